"""Judges a manifest of `actorflow launch --to kubernetes` or `tfjob`.

    kubernetes_manifest.py MANIFEST ARGUMENTS

Objects of Kubernetes must be valid by its own schemas (PyPI's kubernetes-validate). A TFJob must be one by the training
operator's own models of it (PyPI's kubeflow-training); its pods are judged by Kubernetes' schema of a pod. The container's
command must be that of ARGUMENTS, a JSON list, after Kubernetes has put variables in place.
"""
import copy
import json
import re
import sys
import types

import kubernetes_validate
from kubeflow.training.api_client import ApiClient

OLDEST, NEWEST = "1.31", "1.37"  # podFailurePolicy is stable since the first
# What the training operator allows where its models have any text.
CLEAN_POD_POLICIES = {"Running", "All", "None"}
REPLICA_TYPES = {"PS", "Worker", "Chief", "Master", "Evaluator"}
RESTART_POLICIES = {"Always", "OnFailure", "Never", "ExitCode"}
LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def expanded(text, variables):
    """The text as the kubelet reads it: $$ is $, and $(NAME) a variable that stands before."""
    out, i = "", 0
    while i < len(text):
        if text.startswith("$$", i):
            out, i = out + "$", i + 2
        elif match := re.match(r"\$\(([^)]*)\)", text[i:]):
            out, i = out + variables.get(match[1], match[0]), i + len(match[0])
        else:
            out, i = out + text[i], i + 1
    return out


def variables_of(container, index):
    variables = {}
    for entry in container["env"]:
        value = entry.get("value")
        if value is None:
            path = entry["valueFrom"]["fieldRef"]["fieldPath"]
            assert path == "metadata.annotations['batch.kubernetes.io/job-completion-index']", path
            value = str(index)
        variables[entry["name"]] = expanded(value, variables)
    return variables


def check_container(container, name, command):
    assert container["name"] == name, container["name"]
    variables = variables_of(container, 0)
    assert [expanded(word, variables) for word in container["command"]] == command, container["command"]
    assert container["ports"][0]["containerPort"] == 2222


def check_job(job, objects, command):
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"]
    check_container(pod["containers"][0], "actorflow", command)
    service = next(o for o in objects if o["kind"] == "Service")
    assert service["spec"]["clusterIP"] == "None" and pod["subdomain"] == service["metadata"]["name"]
    labels = spec["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    # Every address is the name of a pod: its Job's name, its index, the Service.
    jobs = {o["metadata"]["name"]: o["spec"]["completions"] for o in objects if o["kind"] == "Job"}
    pods = {f"{name}-{i}.{pod['subdomain']}:2222" for name, count in jobs.items() for i in range(count)
            if not name.endswith("-evaluator")}
    for index in range(spec["completions"]):
        config = json.loads(variables_of(pod["containers"][0], index)["TF_CONFIG"])
        assert config["task"]["index"] == index
        assert job["metadata"]["name"] == f"{pod['subdomain']}-{config['task']['type']}"
        assert {address for list_ in config["cluster"].values() for address in list_} == pods
    # Kubernetes refuses it otherwise.
    assert pod["restartPolicy"] == "Never" or "podFailurePolicy" not in spec


def is_tfjob(job):
    """Whether the operator's models have each of its fields, with that type: they drop others, and convert."""
    client = ApiClient()
    try:
        read = client.deserialize(types.SimpleNamespace(data=json.dumps(job)), "KubeflowOrgV1TFJob")
    except ValueError:
        return False
    return json.dumps(client.sanitize_for_serialization(read), sort_keys=True) == json.dumps(job, sort_keys=True)


def check_judge_of_tfjobs(job):
    """A judge that takes anything says nothing."""
    def damage(change):
        damaged = copy.deepcopy(job)
        change(damaged["spec"], next(iter(damaged["spec"]["tfReplicaSpecs"].values())))
        return damaged

    for change in (lambda spec, replicas: spec.pop("tfReplicaSpecs"),
                   lambda spec, replicas: spec.update(replicas=2),
                   lambda spec, replicas: spec["runPolicy"].update(backofLimit=1),
                   lambda spec, replicas: spec["runPolicy"].update(backoffLimit="1"),
                   lambda spec, replicas: replicas.update(replicas="1"),
                   lambda spec, replicas: replicas.update(restart="Never"),
                   lambda spec, replicas: replicas["template"].update(image="x")):
        assert not is_tfjob(damage(change))


def check_tfjob(job, command):
    assert job["apiVersion"] == "kubeflow.org/v1" and is_tfjob(job)
    check_judge_of_tfjobs(job)
    assert LABEL.fullmatch(job["metadata"]["name"])
    spec = job["spec"]
    assert spec["runPolicy"]["cleanPodPolicy"] in CLEAN_POD_POLICIES
    assert spec["tfReplicaSpecs"] and set(spec["tfReplicaSpecs"]) <= REPLICA_TYPES
    for replicas in spec["tfReplicaSpecs"].values():
        assert replicas["replicas"] >= 1 and replicas["restartPolicy"] in RESTART_POLICIES
        check_container(replicas["template"]["spec"]["containers"][0], "tensorflow", command)
        pod = {"apiVersion": "v1", "kind": "Pod", **replicas["template"]}
        kubernetes_validate.validate(pod, NEWEST, strict=True)


def main():
    manifest, command = json.load(open(sys.argv[1], encoding="utf-8")), json.loads(sys.argv[2])
    objects = manifest["items"]
    secrets = {o["metadata"]["name"]: o for o in objects if o["kind"] == "Secret"}
    for item in objects:
        if item["kind"] == "TFJob":
            check_tfjob(item, command)
            templates = [r["template"] for r in item["spec"]["tfReplicaSpecs"].values()]
        else:
            for version in (OLDEST, NEWEST):
                kubernetes_validate.validate(item, version, strict=True)
            templates = [item["spec"]["template"]] if item["kind"] == "Job" else []
        if item["kind"] == "Job":
            check_job(item, objects, command)
        for template in templates:
            for volume in template["spec"].get("volumes", []):
                if "secret" in volume:
                    assert volume["secret"]["secretName"] in secrets
                    assert volume["secret"]["defaultMode"] == 0o400
    print(f"{len(objects)} objects are valid")


main()
