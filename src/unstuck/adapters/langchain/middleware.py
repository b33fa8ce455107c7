"""The middleware for `create_agent`, and the way to a guarded tool node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.config import get_config

from unstuck.adapters.langchain.exchanges import Exchanges, is_nested, name_of, thread_of, turn_of
from unstuck.adapters.langchain.tool_node import in_node
from unstuck.errors import LoopStopped
from unstuck.live import LiveAgent, current

if TYPE_CHECKING:
    from langgraph.prebuilt import ToolNode
    from langgraph.prebuilt.tool_node import ToolCallRequest


class _Held(str):
    """The name of a run, and beside it the *agent* that acts: streams show state to callers, who may want to write it down."""

    __slots__ = ("agent",)
    agent: LiveAgent

    def __deepcopy__(self, memo: Any) -> _Held:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def _held(agent: LiveAgent) -> dict[str, Any]:
    held = _Held(agent.run.name)
    held.agent = agent
    return {"unstuck_agent": held}


class _State(AgentState):
    """What the middleware keeps for one invocation: never saved, not in the schema of the graph."""

    unstuck_agent: NotRequired[Annotated[Any, UntrackedValue, PrivateStateAttr]]


class LoopGuard(Exchanges, AgentMiddleware):
    """Middleware that watches an agent; takes the arguments of `unstuck.guard.Guard`. With `on_stop="end"` the run ends with a last message."""

    state_schema = _State

    def tool_node(self, tools: Sequence[Any], **options: Any) -> ToolNode:
        """A `ToolNode` for a graph of your own; a nudge stands at the end of the round's last result. *options* go to `ToolNode`."""
        return in_node(self, tools, options)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """A run begins; inside another agent's tool it is a sub-agent's, in a graph of agents the part of one of them."""
        config = get_config()
        thread, name = thread_of(config), name_of(config)
        if current() is None and is_nested(config):
            return _held(self.take_over((thread, turn_of(state)), name))
        return _held(self.start(name) if thread is None else self.begin(thread, name))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """The same."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The place for a nudge, and for a stop."""
        agent = self._agent(state)
        if agent.run.stopped is not None and self.graceful:
            last = AIMessage(agent.run.stop_text or "", response_metadata={"finish_reason": "loop_stopped"})
            return {"jump_to": "end", "messages": [last]}
        agent.halt(LoopStopped)
        text = agent.nudge()
        return None if text is None else {"messages": [HumanMessage(text)]}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same."""
        return self.before_model(state, runtime)

    def after_model(self, state: Any, runtime: Any) -> None:
        """The model answered."""
        self.heard(self._agent(state), state)

    async def aafter_model(self, state: Any, runtime: Any) -> None:
        """The same."""
        self.after_model(state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> None:
        """The run ends; where a tool answered the caller directly there was no model call at which to raise a stop."""
        agent = self._agent(state)
        if not agent.depth and not is_nested(get_config()):
            agent.run.end()
        if not self.graceful:
            agent.check(LoopStopped)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """The same."""
        self.after_agent(state, runtime)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Around a call."""
        agent = self._agent(request.state)
        if (instead := self.called(agent, request)) is not None:
            return instead
        with self.running(agent, request):
            answer = handler(request)
        self.returned(agent, request, answer)
        return answer

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        """The same."""
        agent = self._agent(request.state)
        if (instead := self.called(agent, request)) is not None:
            return instead
        with self.running(agent, request):
            answer = await handler(request)
        self.returned(agent, request, answer)
        return answer

    def _agent(self, state: Any) -> LiveAgent:
        """The agent of this invocation; a resumed one has lost its private state and is known by its thread."""
        held = state.get("unstuck_agent")
        config = get_config()
        return held.agent if isinstance(held, _Held) else self.at(thread_of(config), name_of(config))
