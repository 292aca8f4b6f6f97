/** Bounds the tool calls of one step (AGENT_MAX_TOOL_CALLS_PER_STEP): the first ones are carried out, the others fail. */
import type { ToolSet } from 'ai';

export interface BoundTools {
  readonly tools: ToolSet;
  /** Before the model is called again. */
  readonly nextStep: () => void;
}

const kinds: Readonly<Record<string, string>> = { generateImage: 'image', editImage: 'image', generateVideo: 'video' };

export function boundCalls(tools: ToolSet, maxPerStep: number): BoundTools {
  let calls = 0;
  const message = `At most ${maxPerStep} tool calls of one response are carried out. Make the others in your next response.`;
  const failure = { code: 'too_many_tool_calls', message, retryable: true };
  const bound = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    if (execute === undefined) return [name, tool];
    const kind = kinds[name];
    const media = kind && { kind, assetId: null, url: null, mime: null };
    const call: typeof execute = (input, options) => {
      calls += 1;
      return calls > maxPerStep ? { ...media, status: 'failed', failure } : execute(input, options);
    };
    return [name, { ...tool, execute: call }];
  });
  const nextStep = () => {
    calls = 0;
  };
  return { tools: Object.fromEntries(bound), nextStep };
}
