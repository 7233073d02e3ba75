// Takes the address of every public function: one that is not installed, or not in a library, fails to
// build.
#include "actors/actorflow.h"
#include "actors/client/record_job.h"
#include "actors/ensembles/ensemble.h"
#include "actors/events/event_reader.h"
#include "actors/jobs/job.h"
#include "actors/jobs/tensors/batches.h"
#include "actors/models/images/augmentation.h"
#include "actors/models/images/fast_net.h"
#include "actors/models/images/recipe.h"
#include "actors/models/images/whitening.h"
#include "actors/models/text/character_lstm.h"
#include "actors/models/text/sample.h"
#include "actors/models/text/text_data.h"
#include "actors/models/text/transformer.h"
#include "actors/simulation/simulation_test.h"
#include "actors/strategies/distributed_optimizer.h"
#include "dataflow/ops/trace_ops.h"
#include "dataflow/train/replicated_state.h"
#include "kernels/recurrent/recurrent.h"
#include "kernels/shuffle/group_table.h"
#include "kernels/update/elementwise_optimizer.h"
#include "kernels/update/graph_optimizer.h"
#include "schema/crc32.h"
#include "schema/formats/array_header.h"
#include "schema/formats/data_writer.h"
#include "schema/formats/line_blocks.h"
#include "schema/formats/tfrecord_file.h"
#include "schema/records/excerpt.h"
#include "schema/records/key.h"

namespace {

namespace af = actorflow;
using af::Output;

void* volatile kept = nullptr;

template <class... Functions>
void keep(Functions*... functions) {
  ((kept = reinterpret_cast<void*>(functions)), ...);
}

void name_library() {
  // actors/checkpoint/checkpoint.h
  keep(&af::list_checkpoints, &af::latest_checkpoint, &af::read_manifest, &af::verify_checkpoint,
       &af::load_checkpoint, &af::load_latest_checkpoint, &af::load_newest_whole_checkpoint,
       &af::save_checkpoint, &af::hash_of);
  // actors/checkpoint/start_number.h
  keep(&af::take_start_number);
  // actors/client/end_of_input.h
  keep(&af::run_to_end_of_input);
  // actors/client/queue_runner.h
  keep(&af::start_queue_runners);
  // actors/client/record_job.h
  keep(&af::record_job,
       static_cast<void (*)(const af::JobTrace&, const std::string&)>(&af::write_chrome_trace));
  // actors/client/session.h
  keep(static_cast<void (*)(const af::StepTrace&, const std::string&)>(&af::write_chrome_trace));
  // actors/eager/all_reduce.h
  keep(&af::all_reduce_gradients, &af::broadcast_variables);
  // actors/eager/committed_state.h
  keep(&af::run_elastic);
  // actors/eager/eager_checkpoint.h
  keep(&af::save_eager, &af::restore_eager);
  // actors/ensembles/ensemble.h
  keep(static_cast<af::Ensemble (*)(const af::Model&, const af::EnsembleOptions&)>(&af::ensemble));
  // actors/estimator/feature_column.h
  keep(&af::numeric_column, &af::bucketized_column, &af::categorical_column_with_hash_bucket,
       &af::categorical_column_with_identity, &af::crossed_column, &af::embedding_column,
       &af::indicator_column, &af::name_of);
  using Texts = std::vector<std::string>;
  keep<af::CategoricalColumn(std::string, Texts, const af::VocabularyOptions&)>(
      &af::categorical_column_with_vocabulary_list);
  // actors/estimator/features.h
  keep(&af::input_layer, &af::linear_model);
  // actors/estimator/input.h
  keep<af::InputFn(const std::map<std::string, af::Tensor>&, const af::TensorInputOptions&)>(
      &af::tensor_input_fn);
  // actors/estimator/run_config.h
  keep(&af::run_config_from_environment, &af::server_of);
  // actors/estimator/train_and_evaluate.h
  keep(&af::train_and_evaluate);
  // actors/events/event_writer.h
  keep(&af::host_name);
  // actors/export/onnx_export.h
  keep(&af::exported_variables);
  // actors/import/onnx_import.h
  keep(&af::import_onnx);
  // actors/input/dataset.h
  keep(&af::read_all);
  // actors/input/rows.h
  keep(&af::rows_of, &af::row_of, &af::stack_padded);
  // actors/jobs/slices/chunk_store.h
  keep(&af::bytes_of);
  // actors/layers/functional.h
  keep(&af::input, &af::chain);
  // actors/layers/initializer.h
  keep(&af::fans_of, &af::zeros, &af::ones, &af::filled_with, &af::uniform, &af::normal,
       &af::glorot_uniform, &af::glorot_normal, &af::he_uniform, &af::he_normal, &af::lecun_normal,
       &af::orthogonal);
  // actors/layers/layers.h
  using Merging = af::Layer (*)();
  keep(&af::dense, &af::global_avg_pool, &af::global_max_pool, &af::tied_embedding, &af::conv1d,
       &af::max_pool1d, &af::avg_pool1d, &af::masking, &af::time_distributed, &af::repeat_vector,
       &af::permute, &af::position_embedding, &af::attention, &af::flatten, &af::rescaling,
       &af::activation, &af::average, &af::concatenate, &af::dot, static_cast<Merging>(&af::add),
       static_cast<Merging>(&af::multiply), static_cast<Merging>(&af::subtract),
       static_cast<Merging>(&af::maximum), static_cast<Merging>(&af::minimum));
  using Embedding = af::Layer(std::int64_t, std::int64_t, const af::Initializer&);
  using MaskingEmbedding = af::Layer(std::int64_t, std::int64_t, const af::EmbeddingLayerOptions&);
  keep<Embedding, MaskingEmbedding>(&af::embedding, &af::embedding);
  // actors/layers/losses.h
  keep(&af::soft_label_cross_entropy, &af::sigmoid_cross_entropy, &af::sparse_categorical_cross_entropy,
       &af::categorical_cross_entropy, &af::binary_cross_entropy, &af::kl_divergence,
       &af::mean_squared_error, &af::mean_absolute_error, &af::mean_absolute_percentage_error,
       &af::mean_squared_logarithmic_error, &af::huber, &af::log_cosh, &af::hinge, &af::squared_hinge,
       &af::categorical_hinge, &af::cosine_similarity, &af::poisson);
  // actors/layers/metrics.h
  keep(&af::accuracy, &af::categorical_accuracy, &af::top_k_accuracy, &af::binary_accuracy,
       &af::precision, &af::recall, &af::f1_score, &af::auc, &af::pr_auc, &af::root_mean_squared_error,
       &af::r2_score, &af::metric_of);
  // actors/layers/preprocessing.h
  keep(&af::normalization, &af::discretization, &af::category_encoding);
  // actors/layers/recurrent.h
  using Recurrent = af::RecurrentLayer(std::int64_t, const af::RecurrentLayerOptions&);
  keep<Recurrent, Recurrent, Recurrent>(&af::simple_rnn, &af::lstm, &af::gru);
  keep<af::Layer(const af::RecurrentLayer&), af::Layer(const af::RecurrentLayer&, const af::Layer&)>(
      &af::bidirectional, &af::bidirectional);
  // actors/layers/regularizer.h
  keep(&af::l1, &af::l2, &af::l1_l2);
  // actors/models/classifiers.h
  keep(&af::mlp, &af::lenet, &af::resnet20, &af::row_lstm,
       static_cast<af::Classifier (*)(af::Graph&, const af::Architecture&, const af::TensorType&,
                                      const af::ClassifierOptions&)>(&af::make_classifier));
  // actors/models/fit/callbacks.h
  keep(&af::early_stopping, &af::model_checkpoint, &af::backup_and_restore, &af::learning_rate_scheduler,
       &af::reduce_on_plateau, &af::csv_logger, &af::tensorboard, &af::terminate_on_nan,
       &af::averaged_weights, &af::callback);
  // actors/models/images/augmentation.h
  keep(&af::augmented, &af::augmented_images);
  // actors/models/images/fast_net.h
  keep(&af::fast_net);
  // actors/models/images/recipe.h
  keep(&af::fast_net_recipe, &af::resnet20_recipe, &af::rate_of_course);
  keep<af::CompileOptions(const af::ImageRecipe&, std::int64_t)>(&af::compile_options);
  // actors/models/images/whitening.h
  keep(&af::whitening_filters);
  // actors/models/model.h
  keep(static_cast<af::Model (*)(const std::vector<af::Layer>&)>(&af::sequential));
  // actors/models/preprocessing/adapt.h
  keep(static_cast<af::Moments (*)(const af::Dataset&, std::size_t)>(&af::moments_of),
       static_cast<af::Moments (*)(const af::Tensor&)>(&af::moments_of), &af::boundaries_of);
  // actors/models/preprocessing/string_lookup.h, text_vectorization.h
  keep(&af::StringLookup::adapt, &af::StringLookup::load, &af::TextVectorization::adapt,
       &af::TextVectorization::words_of);
  // actors/models/text/character_lstm.h
  keep(&af::character_lstm);
  keep<af::CompileOptions(const af::CharacterLstmRecipe&)>(&af::compile_options);
  // actors/models/text/sample.h
  keep(&af::sample);
  // actors/models/text/text_data.h
  keep(&af::load_text, &af::random_blocks, &af::consecutive_blocks);
  // actors/models/text/transformer.h
  keep(&af::character_transformer);
  keep<af::CompileOptions(const af::TransformerRecipe&)>(&af::compile_options);
  // actors/monitored/hooks.h
  keep(&af::stop_at_step, &af::stop_after_steps, &af::checkpoint_saver, &af::summary_saver,
       &af::logging_tensor, &af::nan_tensor, &af::sync_replicas, &af::feed_fn, &af::final_ops,
       &af::profiler, &af::global_step_waiter);
  // actors/monitored/monitored_session.h
  keep(&af::is_preemption);
  // actors/runtime/clock.h
  keep(&af::steady_clock);
  // actors/runtime/random.h
  keep(&af::system_random);
  // actors/runtime/storage.h
  keep(&af::posix_storage);
  // actors/strategies/distribution.h
  keep(&af::distribution_from_environment, &af::pipeline_from_environment, &af::is_chief,
       &af::run_on_threads);
  // actors/strategies/replica_run.h
  keep(&af::replica_config, &af::run_replica, &af::serve_parameters);
  // actors/strategies/replica_settings.h
  keep(&af::describe_optimizer, &af::describe_optimizers, &af::describe_strategy, &af::publish_settings,
       &af::expect_settings_of);
  // actors/task/server.h
  keep(&af::check_not_replaced, &af::throw_if_failed);
  // dataflow/cluster/device_name.h
  keep(&af::is_job_name, &af::task_part, &af::names_no_task, &af::may_be_on);
  // dataflow/cluster/task_config.h
  keep(&af::role_mistakes);
  // dataflow/graph/gradient.h
  keep(&af::indexed_slices, &af::gradients_of_composition, &af::no_gradient_yet);
  using Outputs = std::vector<Output>;
  keep<Outputs(Output, const Outputs&), Outputs(const Outputs&, const Outputs&, const Outputs&)>(
      &af::gradients, &af::gradients);
  // dataflow/collectives/agreement.h
  keep(&af::parse_reduction, &af::parse_compression, &af::check_call, &af::disagreement);
  // dataflow/collectives/group_waits.h
  keep(&af::lines_of, &af::waits_of);
  // dataflow/collectives/link_cost.h
  keep(&af::check_costs, &af::link_cost);
  // dataflow/collectives/ranks.h
  keep(&af::parse_host_slots, &af::place_ranks, &af::places_of);
  // dataflow/graph/graph.h
  keep(&af::infer_node, &af::input_types, &af::infer_graph, &af::extend_graph, &af::add_node,
       &af::outputs_of, &af::expect_in_graph);
  // dataflow/graph/job_trace.h
  keep(&af::waits, &af::shares, static_cast<std::string (*)(const af::JobTrace&)>(&af::to_chrome_trace));
  // dataflow/graph/op.h
  keep(&af::kind_of, &af::find_attr);
  // dataflow/graph/precision.h
  keep(&af::parse_precision, &af::precision_attr, &af::precision_of, &af::expect_precision);
  // dataflow/graph/step_trace.h
  keep(&af::transfers, static_cast<std::string (*)(const af::StepTrace&)>(&af::to_chrome_trace));
  // dataflow/graph/tensor_types.h
  keep(&af::parse_tensor_types, &af::types_of, &af::describe, &af::fits);
  // dataflow/ops/checkpoint_ops.h
  keep(&af::snapshot_variables_op, &af::write_snapshot_op, &af::take_from_snapshot_op,
       &af::restore_variables_op, &af::checkpoint_ops, &af::checkpoint_attrs,
       &af::variables_in_checkpoint);
  // dataflow/ops/collective_ops.h
  keep(&af::all_reduce, &af::grouped_all_reduce, &af::grouped_reduce_scatter, &af::all_gather,
       static_cast<af::Output (*)(const af::Output&, const af::RankList&, int, const std::string&)>(
           &af::broadcast),
       &af::reduce_scatter, &af::all_to_all, &af::all_reduce_op, &af::all_gather_op, &af::broadcast_op,
       &af::reduce_scatter_op, &af::grouped_reduce_scatter_op, &af::all_to_all_op, &af::barrier,
       &af::join, &af::barrier_op, &af::join_op, &af::collective_waits, &af::collective_waits_op,
       &af::collective_ops, &af::ranks_of, &af::life_of, &af::parse_life);
  // dataflow/ops/conditional_accumulator.h
  keep(&af::accumulator_apply_op, &af::accumulator_take_op, &af::accumulator_apply_sparse_op,
       &af::accumulator_take_sparse_op, &af::accumulator_size_op, &af::accumulator_set_step_op,
       &af::accumulator_ops);
  // dataflow/ops/optimizer.h
  keep(&af::make_optimizer, &af::optimizer_names, &af::with_learning_rate, &af::parse_optimizer,
       &af::expect_hyperparameters);
  // dataflow/ops/queue_ops.h
  keep(&af::fifo_queue, &af::random_shuffle_queue, &af::padding_fifo_queue, &af::iterator_get_next,
       &af::queue_enqueue_op, &af::queue_enqueue_many_op, &af::queue_dequeue_op,
       &af::queue_dequeue_many_op, &af::queue_dequeue_up_to_op, &af::queue_close_op, &af::queue_size_op,
       &af::queue_is_closed_op, &af::iterator_get_next_op, &af::queue_ops);
  // dataflow/ops/trace_ops.h
  keep(&af::record_task, &af::record_task_op, &af::trace_ops, &af::record_tensors, &af::task_record_of);
  // dataflow/train/optimizer_choice.h
  keep(&af::name_contains, &af::muon_for_matrices, &af::decay_except<af::AdamW>);
  // dataflow/train/partitioned_variable.h
  keep(&af::fixed_size_partitioner, &af::variable_axis_size_partitioner);
  // dataflow/train/pipeline_schedule.h
  keep(&af::pipeline_passes);
  // dataflow/train/replica_device_setter.h
  keep(&af::round_robin, &af::greedy_by_bytes, &af::make_ps_strategy, &af::replica_device_setter,
       &af::device_in_task);
  // dataflow/train/replicate.h
  keep(&af::global_step, &af::compute_gradients, &af::apply_gradients, &af::minimize);
  // dataflow/train/replicated_state.h
  keep(&af::copy_state_of_first, &af::read_state, &af::assign_state, &af::with_step);
  // dataflow/train/strategy.h
  keep(&af::is_synchronous, &af::is_all_reduce, &af::is_agreement);
  // dataflow/values/buffer.h
  keep(&af::heap);
  // dataflow/values/dtype.h
  keep(&af::size_of, &af::parse_dtype, &af::is_floating, &af::is_float32_or_64, &af::is_short_floating,
       &af::is_integer);
  // dataflow/values/error.h
  keep(&af::is_derived, &af::invalid_argument, &af::throw_if_error);
  // dataflow/values/shape.h
  keep(static_cast<af::Shape (*)(const af::Shape&, const af::Shape&)>(&af::broadcast));
  // dataflow/values/tensor.h
  keep(&af::identical);
  // kernels/control/control_flow.h
  using Loop = af::LoopVariables (*)(const af::LoopCondition&, const af::LoopBody&,
                                     const af::LoopVariables&, const af::LoopOptions&);
  keep(static_cast<std::vector<Output> (*)(Output, const af::Branch&, const af::Branch&)>(&af::cond),
       static_cast<Loop>(&af::while_loop));
  // kernels/core/crash_report.h
  keep(&af::report_crashes);
  // kernels/core/kernel.h
  keep(&af::builtin_ops);
  // kernels/devices/device.h
  keep(&af::cpu_device, &af::make_cpu_device, &af::cuda_device_count, &af::cuda_device);
  // kernels/eager/gradient_clipping.h
  using Gradients = std::vector<af::Gradient>;
  keep<double(const Gradients&, af::EagerContext&),
       Gradients(const Gradients&, double, af::EagerContext&)>(&af::global_norm,
                                                               &af::clip_by_global_norm);
  // kernels/eager/gradient_tape.h
  keep(&af::value, &af::context_of);
  // kernels/eager/traced_function.h
  keep(&af::trace);
  // kernels/library/library.h
  keep(&af::builtin_library);
  // kernels/loops/vectorised.h
  keep(&af::available_instruction_sets, &af::instruction_set, &af::use_instruction_set);
  // kernels/ops.h
  keep(&af::divide, &af::pow, &af::negative, &af::abs, &af::sign, &af::square, &af::exp, &af::log,
       &af::sqrt, &af::rsqrt, &af::tanh, &af::sigmoid, &af::relu, &af::relu_grad, &af::equal,
       &af::not_equal, &af::less, &af::less_equal, &af::greater, &af::greater_equal, &af::logical_and,
       &af::logical_or, &af::logical_not, &af::select, &af::where, &af::element, &af::cast, &af::sum,
       &af::mean, &af::max, &af::min, &af::argmax, &af::sum_like, &af::mean_like, &af::broadcast_like,
       &af::spread_like, &af::zeros_like, &af::ones_like, &af::fill, &af::identity, &af::expand_dims,
       &af::transpose, &af::shape_of, &af::slice, &af::concat, &af::pad, &af::random_uniform,
       &af::random_normal, &af::truncated_normal, &af::matmul, &af::batch_matmul, &af::bias_add,
       &af::fused_conv2d, &af::batch_norm_inference, &af::gelu, &af::gather, &af::scatter_add,
       &af::scatter_update, &af::unsorted_segment_sum, &af::softmax, &af::log_softmax,
       &af::dot_product_attention, &af::histogram);
  // Those that have a layer, or a loss, of their name.
  using Binary = Output (*)(Output, Output);
  using Pool = Output (*)(Output, af::Extent, af::Extent, af::Padding);
  keep(static_cast<Binary>(&af::add), static_cast<Binary>(&af::multiply),
       static_cast<Binary>(&af::subtract), static_cast<Binary>(&af::maximum),
       static_cast<Binary>(&af::minimum), static_cast<Binary>(&af::softmax_cross_entropy),
       static_cast<Pool>(&af::max_pool), static_cast<Pool>(&af::avg_pool),
       static_cast<Output (*)(Output, const af::Shape&)>(&af::reshape),
       static_cast<Output (*)(Output, Output, af::Extent, af::Padding)>(&af::conv2d),
       static_cast<af::BatchNorm (*)(Output, Output, Output, double, bool, Output)>(&af::batch_norm),
       static_cast<Output (*)(Output, Output, Output, double)>(&af::layer_norm),
       static_cast<Output (*)(Output, double, std::uint64_t, Output)>(&af::dropout));
  // kernels/ops/arrays.h
  keep(&af::unstack, &af::slice_to_end, &af::squeeze, &af::range, &af::one_hot, &af::clip, &af::variance,
       &af::any, &af::all, &af::tile, &af::cumsum, &af::take_along_axis, &af::add_along_axis, &af::top_k,
       &af::erf, &af::softplus, &af::sin, &af::cos, &af::floor, &af::ceil, &af::round,
       &af::stop_gradient, &af::silu, &af::leaky_relu, &af::elu, &af::selu, &af::einsum);
  // kernels/ops/clipping.h
  using Clipped = std::vector<af::GradientAndVariable>;
  keep<Output(const Outputs&), Clipped(Clipped, double)>(&af::global_norm, &af::clip_by_global_norm);
  keep(&af::clip_by_norm, &af::clip_by_value);
  // kernels/ops/embedding.h
  keep(&af::whole);
  // kernels/ops/histogram.h
  keep(&af::histogram_limits);
  // kernels/ops/learning_rate.h
  keep(&af::exponential_decay, &af::inverse_time_decay, &af::polynomial_decay, &af::cosine_decay,
       &af::piecewise_constant);
  // kernels/recurrent/recurrent.h
  keep<Output(Output, Output, const af::RecurrentOptions&),
       Output(Output, Output, const af::RecurrentOptions&)>(&af::simple_rnn, &af::lstm);
  keep<Output(Output, Output, Output, const af::RecurrentOptions&)>(&af::gru);
  // kernels/update/optimizer_rule.h
  keep(&af::builtin_optimizer_rules, &af::builtin_optimizers, &af::update_by_way_of_host,
       &af::update_rows_by_way_of_host);
  // kernels/update/graph_optimizer.h
  keep(&af::lamb_optimizer, &af::muon_optimizer);
  // kernels/shuffle/key_sort.h
  using Entries = std::span<const af::SortEntry>;
  using Bytes = std::span<const std::byte>;
  keep(static_cast<void (*)(Entries, Bytes, std::size_t, std::byte*)>(&af::gather_records),
       static_cast<void (*)(Entries, Bytes, std::span<const std::uint64_t>, std::byte*)>(
           &af::gather_records));
  // kernels/shuffle/partition_of.h
  keep(&af::partition_of);
  // schema/cluster_json.h
  keep(&af::parse_cluster, &af::read_cluster, &af::tf_config, &af::parse_tf_config);
  // schema/codec/checkpoint_codec.h
  keep(&af::encode_manifest, &af::decode_manifest);
  // schema/event.h
  keep(&af::encode_event, &af::decode_event, &af::encode_tensorflow_graph, &af::count_tensorflow_nodes,
       &af::encode_image);
  // schema/example.h
  keep(&af::check_features, &af::parse_example, &af::encode_example);
  // schema/formats/array_header.h
  keep(&af::read_idx_header, &af::read_npy_header, &af::row_records);
  // schema/formats/byte_sink.h
  keep(&af::compressed);
  // schema/formats/byte_source.h
  keep(static_cast<af::SourceRef (*)(af::SourceRef)>(&af::decompressed),
       static_cast<af::SourceRef (*)(af::SourceRef, af::Compression)>(&af::decompressed));
  // schema/formats/compression.h
  keep(&af::compression_of, &af::extension_of);
  // schema/formats/element_reader.h
  keep(&af::read_idx, &af::read_cifar10, &af::read_tfrecords, &af::read_lines, &af::read_csv);
  // schema/parquet/parquet_file.h, parquet_types.h, parquet_writer.h
  keep(&af::open_parquet, &af::reads_parquet, &af::takes_column, &af::match_columns);
  keep(&af::expect_parquet, &af::create_parquet);
  // schema/formats/split.h
  keep(&af::is_splittable, &af::plan_splits);
  // schema/records/excerpt.h
  keep(&af::excerpt);
  // schema/records/key.h
  keep(&af::hash_bytes);
  // schema/tfrecord.h
  keep(&af::masked_crc32c, &af::append_record);
}

// Functions of one name: each is chosen by its type.
void name_overloads() {
  keep<Output(Output, double), Output(Output, std::int64_t)>(&af::scalar_like, &af::scalar_like);
  using Outputs = std::vector<Output>;
  keep<Output(const Outputs&, std::int64_t), af::Tuple(std::span<const af::Tuple>)>(&af::stack,
                                                                                    &af::stack);
  keep<Outputs(Output, const std::vector<std::int64_t>&, std::int64_t),
       Outputs(Output, std::int64_t, std::int64_t)>(&af::split, &af::split);
  keep<Output(Output, Output, std::int64_t, double), Output(double, Output, std::int64_t, double)>(
      &af::linear_warmup, &af::linear_warmup);
  keep<std::string_view(af::InstructionSet)>(&af::to_string);
  keep<Output(Output, Output)>(&af::embedding_lookup);
  keep<Output(const af::PartitionedVariable&, Output, af::PartitionStrategy)>(&af::embedding_lookup);
  keep<af::PartitionedVariable(af::Graph&, std::string_view, Output, const af::Partitioner&)>(
      &af::partitioned_variable);
  keep<af::PartitionedVariable(af::Graph&, std::string_view, const af::TensorType&,
                               const af::PartInitializer&, const af::Partitioner&)>(
      &af::partitioned_variable);
  keep<af::HookRef(af::Every, af::StepRate), af::HookRef(af::Every, std::shared_ptr<af::EventWriter>)>(
      &af::step_counter, &af::step_counter);
  using Signatures = std::map<std::string, af::Signature>;
  using Values = std::map<std::string, af::Tensor>;
  keep<void(af::Storage&, const std::string&, const Signatures&, const Values&,
            const af::OnnxExportOptions&)>(&af::export_onnx);
  keep<void(af::Storage&, const std::string&, const Signatures&, af::Session&,
            const af::OnnxExportOptions&)>(&af::export_onnx);
  keep<std::string_view(af::Precision), std::string_view(af::QueueKind), std::string_view(af::DType),
       std::string_view(af::Code), std::string_view(af::FaultKind),
       std::string_view(af::PipelineSchedule), std::string_view(af::CollectiveKind),
       std::string_view(af::ReduceOp), std::string_view(af::Algorithm)>(
      &af::to_string, &af::to_string, &af::to_string, &af::to_string, &af::to_string, &af::to_string,
      &af::to_string, &af::to_string, &af::to_string);
  keep<std::string(std::span<const af::TensorType>), std::string(const af::FaultPlan&)>(&af::to_string,
                                                                                        &af::to_string);
}

void name_jobs() {
  // actors/input/file_source.h
  using Source = std::unique_ptr<af::ByteSource>;
  keep<Source(af::Storage&, const std::string&)>(&af::open_data_file);
  keep<Source(af::Storage&, const std::string&, af::Compression)>(&af::open_data_file);
  keep(&af::open_data_file_or_gzip);
  // actors/jobs/engine/parts/operator_failure.h
  keep(&af::throw_operator_failure, &af::at_record);
  // actors/jobs/sources/input_files.h
  keep(&af::find_input, &af::pieces_of);
  // actors/jobs/job.h
  keep(&af::run_jobs);
  // actors/jobs/run_job.h
  keep(&af::run_job, &af::find_job, &af::run_function);
  // actors/jobs/engine/job_sizes.h
  keep(&af::sizes_of_job);
  // actors/jobs/parquet/parquet_input.h
  keep(&af::check_parquet);
  // actors/jobs/sources/csv_input.h
  keep(&af::match_headers, &af::choose_columns);
  // actors/jobs/sources/sources.h
  keep(&af::read_csv_rows);
  // schema/records/csv_field.h
  keep(&af::without_byte_order_mark);
  // actors/jobs/outputs/column_folders.h
  keep(&af::column_folder, &af::expect_column_name, &af::throw_many_values, &af::output_files);
  // actors/jobs/outputs/outputs.h
  keep(&af::part_name, &af::expect_output, &af::prepare_output, &af::finish_output);
  // actors/jobs/sinks/hot_keys.h, skew.h
  keep(&af::hot_keys_of, &af::log_divided_key, &af::throw_large_value);
  // actors/jobs/outputs/parquet_sink.h
  keep(&af::parquet_names, &af::expect_parquet_texts);
  // actors/jobs/tensors/job_dataset.h, job_share.h
  keep(&af::run_parts_here, &af::throw_elsewhere, &af::throw_share_lost);
  // actors/jobs/sorting/top.h
  keep(&af::scrambled);
  // actors/jobs/windows.h
  keep(&af::row_number);
  // dataflow/jobs/plan.h
  keep<std::string(std::span<const af::PlanStage>)>(&af::to_text);
  keep<std::string(std::span<const af::PlanStage>)>(&af::to_dot);
  // schema/crc32.h
  keep(&af::crc32);
  // schema/formats/split.h
  keep(&af::plan_splits, &af::expect_not_cut);
}

void name_simulation() {
  // actors/simulation/fault_plan.h
  keep(&af::parse_fault_kind, &af::parse_fault_plan, &af::check_faults, &af::random_fault_plan, &af::shrink);
  // actors/simulation/seeds.h
  keep(&af::seeds, &af::faults_of_environment, &af::twice_by_environment, &af::run_seeds, &af::run_seed,
       &af::of_this_seed);
  // actors/simulation/simulation_test.h
  keep(&af::run_simulation_test);
}

}  // namespace

int main() {
  name_library();
  name_overloads();
  name_jobs();
  name_simulation();
  return kept == nullptr;
}
