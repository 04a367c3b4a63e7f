"""The networks: an encoder for observations and a head for actions.

`arch`, in the section or in its encoder, says what the encoder is (`Network`). Without one it
follows from the observation space later, and the encoder stays a free mapping (`DeferredNetwork`).
The language models' section (`PretrainedNetwork`) names a model instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena_sdk.manifest.base import Fault, Section, Unset, about, fault, refine
from arena_sdk.manifest.lora import LoraSettings

Activation = Literal[
    "Tanh", "GELU", "ReLU", "ELU", "LeakyReLU", "Sigmoid", "Softplus", "Softmax",
    "GumbelSoftmax", "PReLU", "Identity",
]  # fmt: skip
Sizes = Annotated[list[int], Field(min_length=1)]


class LayerCounts(Section):
    """How many hidden layers there may be, and how they begin."""

    min_hidden_layers: int = about("Fewest hidden layers that mutation may leave.", 1, gt=0)
    max_hidden_layers: int = about("Most hidden layers that mutation may grow.", 6, gt=1)
    init_layers: bool = about("Initialize the layers orthogonally.", True)
    layer_norm: bool = about("Normalize the output of every hidden layer.", True)
    activation: Activation = about("Activation after every hidden layer.", "ReLU")


class NodeCounts(Section):
    """How many nodes a layer may have."""

    min_mlp_nodes: int = about("Fewest nodes that mutation may leave in a layer.", 8, gt=0)
    max_mlp_nodes: int = about("Most nodes that mutation may grow in a layer.", 256, gt=1)


class OutputActivation(Section):
    """What stands after the last layer."""

    output_activation: Activation | None = about("Activation after the last layer; none.", None)


class Mlp(LayerCounts, NodeCounts, OutputActivation):
    """A multi-layer perceptron."""

    hidden_size: Sizes = about("Nodes of each hidden layer, from input to output.")
    output_vanish: bool = about("Begin with outputs close to zero.", True)
    arch: Literal["mlp"] = about("Kind of encoder: `mlp`.", "mlp")

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: layers and nodes within their bounds."""
        yield from super().faults()
        yield from layers_in_bounds(self, "hidden_size", len(self.hidden_size))
        yield from nodes_in_bounds(self, self.hidden_size)


class Head(Mlp):
    """A perceptron where nothing else can be, so that its kind is not submitted."""

    never_sent: ClassVar[frozenset[str]] = frozenset({"arch"})


class Convolutions(LayerCounts):
    """Convolutional layers."""

    channel_size: Sizes = about("Output channels of each layer.")
    kernel_size: Sizes = about("Kernel width of each layer, in pixels.")
    stride_size: Sizes = about("Stride of each layer, in pixels.")
    min_channel_size: int = about("Fewest channels that mutation may leave in a layer.", 8, gt=0)
    max_channel_size: int = about("Most channels that mutation may grow in a layer.", 256, gt=1)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: one entry a layer in every list, channels within their bounds."""
        yield from super().faults()
        layers = len(self.channel_size)
        for name in ("kernel_size", "stride_size"):
            if len(getattr(self, name)) != layers:
                yield fault(
                    f"{name} is of {len(getattr(self, name))} and channel_size of {layers};"
                    " write one entry for each layer.",
                    name,
                )
        yield from layers_in_bounds(self, "channel_size", layers)
        for size in self.channel_size:
            if not self.min_channel_size <= size <= self.max_channel_size:
                yield fault(
                    f"{size} channels are outside of min_channel_size ({self.min_channel_size}) to"
                    f" max_channel_size ({self.max_channel_size}).",
                    "channel_size",
                )


@refine(layer_norm={"default": False})
class Cnn(Convolutions):
    """A convolutional network, for images."""

    arch: Literal["cnn"] = about("Kind of encoder: `cnn`.", "cnn")


class ImagePart(Cnn):
    """The image encoder of a multi-input encoder; its kind is not submitted."""

    never_sent: ClassVar[frozenset[str]] = frozenset({"arch"})


class Memory(Section):
    """Recurrent layers."""

    hidden_state_size: int = about("Size of the hidden state.", gt=0)
    num_layers: int = about("Recurrent layers, one upon the other.", 1, gt=0)
    min_hidden_state_size: int = about("Smallest hidden state that mutation may leave.", 8, gt=0)
    max_hidden_state_size: int = about("Largest hidden state that mutation may grow.", 256, gt=1)
    min_layers: int = about("Fewest recurrent layers that mutation may leave.", 1, ge=0)
    max_layers: int = about("Most recurrent layers that mutation may grow.", 6, ge=1)
    dropout: float = about("Share of units dropped between recurrent layers.", 0.0, ge=0.0, le=1.0)


class Lstm(Memory):
    """A long short-term memory."""

    arch: Literal["lstm"] = about("Kind of encoder: `lstm`.", "lstm")


@refine(layer_norm={"default": False})
class CnnLstm(Convolutions, Memory, OutputActivation):
    """A convolutional network before a long short-term memory."""

    arch: Literal["cnn_lstm"] = about("Kind of encoder: `cnn_lstm`.", "cnn_lstm")


class Simba(NodeCounts, OutputActivation):
    """A residual network with normalized inputs (https://arxiv.org/abs/2410.09754)."""

    hidden_size: int = about("Width of the residual blocks.", gt=0)
    num_blocks: int = about("Residual blocks, one after the other.", gt=0)
    scale_factor: int = about("Width inside of a block, as a multiple of its own.", 4, gt=0)
    min_blocks: int = about("Fewest blocks that mutation may leave.", 1, gt=0)
    max_blocks: int = about("Most blocks that mutation may grow.", 4, gt=1)
    arch: Literal["simba"] = about("Kind of encoder: `simba`.", "simba")

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: the width within the bounds of a layer."""
        yield from super().faults()
        yield from nodes_in_bounds(self, [self.hidden_size])


class LatentSize(Section):
    """The encoding between encoder and head."""

    latent_dim: int = about("Size of the encoding between encoder and head.", 128, gt=0)
    min_latent_dim: int = about("Smallest encoding that mutation may leave.", 16, gt=0)
    max_latent_dim: int = about("Largest encoding that mutation may grow.", 128, gt=1)


class MultiInput(LatentSize):
    """One encoder for each part of a Dict or Tuple observation."""

    vector_space_mlp: bool = about("Encode the vectors together with a perceptron.", False)
    mlp_config: Head | None = about("Perceptron for the vectors.", None)
    cnn_config: ImagePart | None = about("Convolutional network for the images.", None)
    arch: Literal["multiinput"] = about("Kind of encoder: `multiinput`.", "multiinput")


Encoder = Annotated[Mlp | Cnn | CnnLstm | Lstm | MultiInput | Simba, Field(discriminator="arch")]
ENCODERS: dict[str, type[Section]] = {
    "mlp": Mlp, "cnn": Cnn, "cnn_lstm": CnnLstm, "lstm": Lstm, "multiinput": MultiInput,
    "simba": Simba,
}  # fmt: skip


class NetworkOptions(LatentSize):
    """What a network has whether or not its encoder is known."""

    head_config: Head | None = about("From the encoding to actions or values.", None)
    random_seed: int | None = about("Seed of the first weights; none draws them anew.", None)
    simba: bool = about("Encode with residual blocks (`simba`).", False)
    has_evolvable_encoder: bool = about("Let mutation change the encoder of a policy.", False)


class Squashing(Section):
    """What the network of a stochastic actor may have."""

    squash_output: bool = about("Squash continuous actions into their bounds.", False)


@refine(head_config={"type": Head, "default": Unset})
class Network(NetworkOptions):
    """A network whose encoder is known."""

    encoder_config: Encoder = about("From an observation to its encoding.")

    def fill(self, context: str) -> None:
        """Say that the encoder is made of residual blocks when it is."""
        self.simba = self.simba or isinstance(self.encoder_config, Simba)


class StochasticActor(Network, Squashing):
    """The network of a stochastic actor, in `algorithm.net_config`."""


@refine(latent_dim={"default": 32}, min_latent_dim={"default": 8})
class DeferredNetwork(NetworkOptions, Squashing):
    """A network whose encoder follows from the observation space later."""

    encoder_config: dict[str, Any] = about("Settings of the encoder that will be chosen.", dict)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules of the head; bounds are compared once the encoder is known."""
        yield from self.inner_faults()


class PretrainedNetwork(Section):
    """A language model that is fine-tuned."""

    pretrained_model_name_or_path: str = about("Hub name or folder of the model.", min_length=1)
    max_context_length: int = about("Tokens of prompt and answer together, at most.", ge=1)
    lora_config: LoraSettings | None = about("Low-rank adapters that are trained.", None)


def layers_in_bounds(section: LayerCounts, name: str, layers: int) -> Iterator[Fault]:
    """Yield a fault when there are fewer or more layers than the section allows."""
    low, high = section.min_hidden_layers, section.max_hidden_layers
    if low <= high and not low <= layers <= high:
        yield fault(
            f"{name} has {layers} layers, which is outside of min_hidden_layers ({low}) to"
            f" max_hidden_layers ({high}).",
            name,
        )


def nodes_in_bounds(section: NodeCounts, sizes: list[int]) -> Iterator[Fault]:
    """Yield a fault for every layer with fewer or more nodes than the section allows."""
    low, high = section.min_mlp_nodes, section.max_mlp_nodes
    for size in sizes:
        if low <= high and not low <= size <= high:
            yield fault(
                f"{size} nodes are outside of min_mlp_nodes ({low}) to max_mlp_nodes ({high}).",
                "hidden_size",
            )
