"""Manifests drawn at random from the published JSON Schema: valid, nearly valid and wrong ones.

Every field of every algorithm and section is reached, with values inside, at and outside of its
bounds, of the wrong kind, misspelt, spelt both ways, and in combinations of sections.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

LANGUAGE_MODELS = ("CISPO", "DPO", "GRPO", "GSPO", "LLMPPO", "LLMREINFORCE", "SFT")
ODD = (None, True, False, 0, 1, -1, 2, 0.5, 64.0, 1.5, -0.001, 1e6, "", "x", "1e-4", "64", "yes",
       "auto", [], [1], ["a"], [[1]], {}, {"a": 1}, {"a": None})  # fmt: skip
WORDS = ("x", "a:B", "v1", "token", "turn", "flash_attention_2", "nf4", "CartPole-v1", "DQN")

MLP = {"hidden_size": [64]}
CNN = {"channel_size": [32, 32], "kernel_size": [8, 4], "stride_size": [4, 2]}
NETWORKS: tuple[Any, ...] = (
    {}, {"latent_dim": 64}, {"encoder_config": MLP}, {"head_config": MLP}, {"simba": True},
    {"encoder_config": MLP, "head_config": MLP},
    {"arch": "mlp", "encoder_config": MLP, "head_config": MLP},
    {"encoder_config": {**MLP, "arch": "mlp"}, "head_config": {**MLP, "arch": "mlp"}},
    {"arch": "cnn", "encoder_config": CNN, "head_config": MLP},
    {"arch": "lstm", "encoder_config": {"hidden_state_size": 64}, "head_config": MLP},
    {"arch": "cnn_lstm", "encoder_config": {**CNN, "hidden_state_size": 64}, "head_config": MLP},
    {"arch": "simba", "encoder_config": {"hidden_size": 64, "num_blocks": 2}, "head_config": MLP},
    {"arch": "multiinput", "encoder_config": {"mlp_config": MLP, "cnn_config": CNN},
     "head_config": MLP},
    {"arch": "mlp", "encoder_config": MLP},
    {"pretrained_model_name_or_path": "m", "max_context_length": 512},
    {"pretrained_model_name_or_path": "n", "max_context_length": 512, "lora_config": {"lora_r": 8}},
)  # fmt: skip
ROLLOUTS: tuple[Any, ...] = (
    {"entrypoint": "a:B"},
    {"env_url": "http://h", "max_turns": 3},
    {"env_image": "i"},
    {"dataset": "d", "rubric_file_path": "r.py", "prompt_template": {"user": "{q}"}},
    {
        "hf_dataset_id": "d",
        "reward_file_path": "r.py",
        "prompt_template": {},
        "columns": {"q": "a"},
    },
)
SERVICE = {
    "name": "web", "port": 80, "url_env": "WEB",
    "containers": [{"name": "c", "image": "i", "port": 80}],
}  # fmt: skip
SECTIONS_OF = (
    ("environment", "DQN"), ("environment", "CQN"), ("environment", "NeuralUCB"),
    ("environment", "SFT"), ("training", "PPO"), ("training", "GRPO"),
    ("mutation", "DQN"), ("replay_buffer", "DQN"), ("tournament_selection", "TD3"),
    ("network", "DQN"),
)  # fmt: skip


class Drawing:
    """Draws manifests; equal seeds draw equal ones."""

    def __init__(self, schema: Schema, seed: int) -> None:
        self._schema = schema
        self._random = random.Random(seed)
        self._algorithms = {
            one["properties"]["name"]["enum"][0]: one
            for one in schema["properties"]["algorithm"]["oneOf"]
        }

    def manifest(self) -> dict[str, Any]:
        """Return the next manifest."""
        rng = self._random
        name = rng.choice(sorted(self._algorithms))
        document = self.base(name)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
            rng.choice(
                (self._set_field, self._set_field, self._set_field, self._set_field,
                 self._add_section, self._misspell, self._null, self._both_spellings, self._drop)
            )(name, document)  # fmt: skip
        return document

    def each_field(self) -> Iterator[dict[str, Any]]:
        """Return manifests in which each field in turn has each value worth a try."""
        for name in sorted(self._algorithms):
            for field, schema in self._algorithms[name]["properties"].items():
                for value in self._values(schema) if field != "name" else ("x", None, 1):
                    document = self.base(name)
                    document["algorithm"][field] = value
                    yield document
        for source in ROLLOUTS:
            for field, schema in self._schema["$defs"]["LLMEnvSpec"]["properties"].items():
                for value in self._values(schema):
                    document = self.base("GRPO")
                    document["environment"] = {**copy.deepcopy(source), field: value}
                    yield document
        for section, name in SECTIONS_OF:
            document = self.base(name)
            self._add(section, name, document)
            known = document[section] if isinstance(document.get(section), dict) else {}
            for field, schema in self._section_schema(section, name, known)["properties"].items():
                for value in self._values(schema):
                    document = self.base(name)
                    document.setdefault(section, {})[field] = value
                    yield document

    def _values(self, schema: Schema) -> Iterator[Any]:
        for kind in self._resolved(schema):
            low, high = kind.get("minimum"), kind.get("maximum")
            exclusive = kind.get("exclusiveMinimum")
            yield from kind.get("enum", [])
            for bound in (low, high, exclusive):
                if bound is not None:
                    step = 1 if kind.get("type") == "integer" else 0.001
                    yield from (bound, bound - step, bound + step)
        yield from ODD

    def base(self, name: str) -> dict[str, Any]:
        """Return a valid manifest of an algorithm that says little."""
        rng = self._random
        algorithm: dict[str, Any] = {"name": rng.choice(self._spellings(name))}
        if name not in LANGUAGE_MODELS:
            return {"algorithm": algorithm, "environment": {"name": "CartPole-v1"}}
        algorithm["pretrained_model_name_or_path"] = "m"
        environment = {"dataset": "d"} if name in ("DPO", "SFT") else rng.choice(ROLLOUTS)
        return {"algorithm": algorithm, "environment": copy.deepcopy(environment)}

    def _spellings(self, name: str) -> list[str]:
        return list(self._algorithms[name]["properties"]["name"]["enum"])

    def _resolved(self, schema: Schema) -> list[Schema]:
        """Return the kinds that a schema allows."""
        if "$ref" in schema:
            return self._resolved(self._schema["$defs"][schema["$ref"].rsplit("/", 1)[1]])
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return [kind for part in schema[word] for kind in self._resolved(part)]
        if isinstance(schema.get("type"), list):
            return [{**schema, "type": kind} for kind in schema["type"]]
        return [schema]

    def _section_schema(self, section: str, name: str, raw: Any) -> Schema:
        definitions = self._schema["$defs"]
        raw = raw if isinstance(raw, dict) else {}
        if section == "algorithm":
            return self._algorithms[name]
        if section == "training":
            return definitions["TrainingSpecLLM"]
        if section == "environment":
            if name in LANGUAGE_MODELS:
                return definitions["LLMEnvSpec"]
            kind = "OfflineEnvSpec" if name == "CQN" else "GymEnvSpec"
            return definitions["BanditEnvSpec" if name.startswith("Neural") else kind]
        if section == "network":
            if "max_context_length" in raw:
                return definitions["FinetuningNetworkSpec"]
            return definitions["NetworkSpec" if "arch" in raw else "DeferredNetworkSpec"]
        if section == "replay_buffer":
            return definitions[
                "LLMRolloutBufferSpec" if raw.get("kind") == "llm" else "ReplayBufferSpec"
            ]
        if section == "mutation":
            return definitions["MutationSpec"]
        multi = raw.get("strategy") == "multi_frequency"
        return definitions["MultiFrequencySelectionSpec" if multi else "TournamentSelectionSpec"]

    def _set_field(self, name: str, document: dict[str, Any]) -> None:
        rng = self._random
        section = rng.choice(
            ("algorithm", "algorithm", "environment", "environment", "training", "training",
             "network", "mutation", "replay_buffer", "tournament_selection")
        )  # fmt: skip
        if section not in document:
            self._add(section, name, document)
        raw = document.get(section)
        if not isinstance(raw, dict):
            return
        properties = self._section_schema(section, name, raw).get("properties", {})
        field = rng.choice(sorted(properties))
        if section == "algorithm" and field == "name" and rng.random() < 0.9:
            return
        self._write(raw, field, properties[field], name, 0)

    def _write(
        self, raw: dict[str, Any], field: str, schema: Schema, name: str, depth: int
    ) -> None:
        rng = self._random
        if field == "rl_hp_selection" and rng.random() < 0.8:
            names = sorted(self._algorithms[name]["properties"])
            raw[field] = {
                rng.choice([*names, "nonsense"]): {
                    "min": rng.choice((0, 1)),
                    "max": rng.choice((0.5, 2)),
                }
                for _ in range(rng.choice((1, 2)))
            }
        elif field == "env_services" and rng.random() < 0.7:
            raw[field] = [copy.deepcopy(SERVICE)]
            container = raw[field][0] if rng.random() < 0.5 else raw[field][0]["containers"][0]
            kind = "EnvServiceSpec" if "containers" in container else "EnvContainerSpec"
            properties = self._schema["$defs"][kind]["properties"]
            inner = rng.choice(sorted(properties))
            self._write(container, inner, properties[inner], name, depth + 1)
        else:
            raw[field] = self._value(schema, name, depth)

    def _value(self, schema: Schema, name: str, depth: int) -> Any:
        rng = self._random
        if rng.random() < 0.18:
            return copy.deepcopy(rng.choice(ODD))
        kind = rng.choice(self._resolved(schema))
        if "enum" in kind:
            return rng.choice(kind["enum"])
        if "const" in kind:
            return kind["const"]
        return getattr(self, f"_{kind.get('type', 'string')}")(kind, name, depth)

    def _null(self, *arguments: Any) -> Any:
        """A null value, or a section or field made null."""
        if len(arguments) == 3:
            return None
        _, document = arguments
        rng = self._random
        if not document:
            return None
        section = rng.choice(list(document))
        raw = document[section]
        if isinstance(raw, dict) and raw and rng.random() < 0.7:
            raw[rng.choice(list(raw))] = None
        else:
            document[section] = None
        return None

    def _integer(self, kind: Schema, name: str, depth: int) -> Any:
        low = kind.get("minimum", kind.get("exclusiveMinimum", -3))
        high = kind.get("maximum", low + 300)
        return self._random.choice(
            (low, low + 1, low - 1, high, high + 1, 2, 8, 64, 100, 5_000, 2_000_000, "16", 32.0)
        )

    def _number(self, kind: Schema, name: str, depth: int) -> Any:
        low = kind.get("minimum", kind.get("exclusiveMinimum", -1.0))
        high = kind.get("maximum", low + 3)
        return self._random.choice(
            (low, high, low - 0.1, high + 0.1, (low + high) / 2, 1, "0.3", "1e-4")
        )

    def _boolean(self, kind: Schema, name: str, depth: int) -> Any:
        return self._random.choice((True, False, True, False, "on", "no", 1, 0))

    def _string(self, kind: Schema, name: str, depth: int) -> Any:
        return self._random.choice(WORDS)

    def _array(self, kind: Schema, name: str, depth: int) -> Any:
        rng = self._random
        if "prefixItems" in kind:
            return [self._value(part, name, depth + 1) for part in kind["prefixItems"]]
        return [
            self._value(kind.get("items", {}), name, depth + 1)
            for _ in range(rng.choice((0, 1, 2, 3)))
        ]

    def _object(self, kind: Schema, name: str, depth: int) -> Any:
        rng = self._random
        properties = kind.get("properties")
        if not properties:
            inner = kind.get("additionalProperties")
            if isinstance(inner, dict):
                return {rng.choice(("a", "A", "pip", "lr")): self._value(inner, name, depth + 1)}
            return copy.deepcopy(
                rng.choice(({}, {"a": 1}, {"pip": ["a"]}, {"cpu_offload": True}, {"ep": 2}))
            )
        found: dict[str, Any] = {}
        for field in kind.get("required", []):
            self._write(found, field, properties[field], name, depth + 1)
        for _ in range(rng.choice((0, 1, 1, 2))):
            field = rng.choice(sorted(properties))
            self._write(found, field, properties[field], name, depth + 1)
        return found

    def _add_section(self, name: str, document: dict[str, Any]) -> None:
        section = self._random.choice(
            ("training", "network", "mutation", "replay_buffer", "tournament_selection")
        )
        self._add(section, name, document)

    def _add(self, section: str, name: str, document: dict[str, Any]) -> None:
        rng = self._random
        made: Any
        if section == "network":
            made = rng.choice(NETWORKS)
            algorithm = document.get("algorithm")
            if "max_context_length" in made and isinstance(algorithm, dict) and rng.random() < 0.5:
                algorithm.pop("pretrained_model_name_or_path", None)
        elif section == "mutation":
            made = rng.choice(({}, {"probabilities": {"no_mut": 0.5}}, {"mutation_sd": 0.2},
                               {"network": {"min_latent_dim": 9, "encoder": {"min_mlp_nodes": 9}}},
                               {"network": {"head_net": {"max_mlp_nodes": 99}}}))  # fmt: skip
        elif section == "replay_buffer":
            made = rng.choice(({}, {"kind": "classic"}, {"kind": "llm"}, {"memory_size": 5}))
            if made == {"kind": "llm"} and rng.random() < 0.5:
                document["training"] = {"rollout_mode": "async", "rollout_engines_per_agent": 1}
        elif section == "tournament_selection":
            made = rng.choice(({}, {"tournament_size": 3}, {"strategy": "multi_frequency"}))
            if "strategy" in made:
                document["training"] = {"pop_size": rng.choice((6, 8, 9, 12, 16))}
            if rng.random() < 0.3:
                section = "selection_strategy"
        else:
            made = rng.choice(({}, {"max_steps": 500}, {"population_size": 4}, {"num_epochs": 2}))
        document[section] = copy.deepcopy(made)

    def _misspell(self, name: str, document: dict[str, Any]) -> None:
        rng = self._random
        if not document:
            return
        section = document[rng.choice(list(document))]
        target = (
            section if isinstance(section, dict) and section and rng.random() < 0.8 else document
        )
        key = rng.choice(list(target))
        key = str(key)
        target[rng.choice((f"{key}s", key[:-1], key.upper(), f"x_{key}"))] = target.pop(key)

    def _both_spellings(self, name: str, document: dict[str, Any]) -> None:
        rng = self._random
        section = rng.choice(("training", "environment", "replay_buffer", "algorithm"))
        raw = document.setdefault(section, {})
        if not isinstance(raw, dict):
            return
        properties = self._section_schema(section, name, raw).get("properties", {})
        aliases = {
            key: one["x-ui-alias-of"] for key, one in properties.items() if "x-ui-alias-of" in one
        }
        if not aliases:
            return
        alias = rng.choice(sorted(aliases))
        value = self._value(properties[alias], name, 0)
        raw[alias] = value
        if rng.random() < 0.3:
            raw[aliases[alias]] = value

    def _drop(self, name: str, document: dict[str, Any]) -> None:
        rng = self._random
        if not document:
            return
        section = rng.choice(list(document))
        raw = document[section]
        if isinstance(raw, dict) and raw and rng.random() < 0.8:
            del raw[rng.choice(list(raw))]
        else:
            del document[section]
