/** Chunks of OpenAI's chat completions, from which the answers of servers are made. */
import { dataLines, events, json, type WireAnswer } from './wire.fixture.ts';

interface Choice {
  readonly delta?: object;
  readonly finish_reason?: string | null;
}

export const chunk = (choice: Choice, rest: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  ...rest,
});
export const says = (content: string) => chunk({ delta: { content } });
export const calls = (...tool_calls: readonly object[]) => chunk({ delta: { tool_calls } });
export const ends = (finish_reason: string, rest: object = {}) => chunk({ finish_reason }, rest);
export const usage = (prompt: number, completion: number, details: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...details,
});
export const stream = (...chunks: readonly unknown[]) => events(`${dataLines(...chunks)}data: [DONE]\n\n`);
export const args = '{"query":"bees"}';
export const wholeCall = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'recallMemory', arguments: args },
};
export const text = stream(says('You like bees.'), ends('stop'));
export const refuse = (message: string, status = 400): WireAnswer => json({ error: { message } }, status);
export const answered = { status: 'completed', text: 'You like bees.' } as const;
export const recalled = { ...answered, finishReason: 'stop', toolInput: { query: 'bees' } } as const;
