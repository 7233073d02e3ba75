"""Prints what TensorFlow's feature columns make of the examples of test/estimator/columns.cpp, which has
these numbers. By hand: pip install tensorflow-cpu==2.15.1, the last version with tf.estimator."""
import tensorflow as tf

fc = tf.feature_column


def ids(column, features):
    """The ids of a categorical column for each example; -1 for what is missing."""
    from tensorflow.python.feature_column import feature_column_v2 as v2
    cache = v2.FeatureTransformationCache({key: tf.constant(value) for key, value in features.items()})
    sparse = column.get_sparse_tensors(cache, None).id_tensor
    return tf.sparse.to_dense(sparse, default_value=-1).numpy().tolist()


def dense(columns, features):
    return tf.keras.layers.DenseFeatures(columns)(
        {key: tf.constant(value) for key, value in features.items()}).numpy().tolist()


letters = "abcdefghijklmnopqrstuvwxyz0123456789" * 6
print("fingerprints", [tf.raw_ops.StringToHashBucketFast(input=[letters[:size]], num_buckets=2**63 - 1).numpy()[0]
                       for size in (0, 1, 3, 4, 7, 8, 15, 16, 17, 24, 32, 33, 50, 64, 65, 100, 128, 129, 200)])
towns = {"town": [["Bern"], ["Genf"], ["Bern"], [""]]}
print("hash", ids(fc.categorical_column_with_hash_bucket("town", 10), towns))
print("hash of integers", ids(fc.categorical_column_with_hash_bucket("n", 10, dtype=tf.int64), {"n": [[7], [-1], [1000]]}))
print("list", ids(fc.categorical_column_with_vocabulary_list("town", ["Bern", "Basel"]), towns))
print("list with a default", ids(fc.categorical_column_with_vocabulary_list("town", ["Bern", "Basel"], default_value=1), towns))
print("list with buckets", ids(fc.categorical_column_with_vocabulary_list("town", ["Bern", "Basel"], num_oov_buckets=3),
                               {"town": [["Bern"], ["Genf"], ["Chur"], ["Sion"], [""]]}))
print("integers with buckets", ids(fc.categorical_column_with_vocabulary_list("n", [5, 7], num_oov_buckets=4),
                                   {"n": tf.constant([[7], [-1], [1000], [12]], tf.int64)}))
print("identity", ids(fc.categorical_column_with_identity("n", 4, default_value=3), {"n": tf.constant([[0, 3], [9, -1]], tf.int64)}))
age = fc.numeric_column("age")
ages = {"age": [[-1.0], [17.5], [18.0], [64.9], [65.0], [100.0]]}
print("bucketized", dense([fc.bucketized_column(age, [18, 65])], ages))
print("bucketized vector", dense([fc.bucketized_column(fc.numeric_column("x", shape=2), [0, 10])], {"x": [[-1.0, 5.0], [10.0, 0.0]]}))
cross = {"town": [["Bern", "Genf"], ["Bern", "Chur"]], "sex": [["f"], ["m"]], "age": [[20.0], [70.0]],
         "n": tf.constant([[3], [12]], tf.int64)}
print("cross of text", ids(fc.crossed_column(["town", "sex"], 100), cross))
print("cross of text and integers", ids(fc.crossed_column(["sex", "n"], 1000), cross))
print("cross of text and buckets", ids(fc.crossed_column(["sex", fc.bucketized_column(age, [18, 65])], 1000), cross))
print("cross of three", ids(fc.crossed_column(["sex", fc.categorical_column_with_identity("n", 20), "town"], 1000), cross))
print("indicator", dense([fc.indicator_column(fc.categorical_column_with_vocabulary_list("town", ["Bern", "Basel"]))],
                         {"town": [["Bern", "Bern"], ["Basel", "Bern"], ["Genf", ""]]}))
for combiner in ("mean", "sum", "sqrtn"):
    column = fc.embedding_column(fc.categorical_column_with_identity("n", 3), 2, combiner=combiner,
                                 initializer=lambda shape, dtype=None, partition_info=None, **_: tf.constant([[1.0, 2], [3, 4], [5, 7]]))
    print("embedding", combiner, dense([column], {"n": tf.constant([[0, 2], [1, -1], [-1, -1]], tf.int64)}))
print("names", fc.crossed_column(["town", "sex"], 100).name, fc.bucketized_column(age, [1]).name,
      fc.indicator_column(fc.categorical_column_with_identity("n", 2)).name)
