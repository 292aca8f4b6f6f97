/** The texts of the offline model. */
import type { ToolRequest } from './request.ts';

export const label = '[offline demo model]';

export function reasoningFor(toolRequests: readonly ToolRequest[]): string {
  if (toolRequests.length === 0) return 'No tool is asked for; I answer in words.';
  return `The words of the message ask for: ${toolRequests.map(({ toolName }) => toolName).join(', ')}.`;
}

interface ToolAnswer {
  readonly toolName: string;
  readonly output: unknown;
}

export function answerTo(question: string, answers: readonly ToolAnswer[], instructions: string): string {
  if (answers.length > 0) return `${label} ${answers.map(describe).join(' ')}`;
  const blocks = [...instructions.matchAll(/^<(wishes|memories)>\n([\s\S]*?)\n<\/\1>$/gm)];
  const known = blocks.flatMap(([, , lines = '']) => lines.split('\n').map((line) => line.replace(/^- /, '')));
  const memory = known.length === 0 ? '' : ` I was reminded of: ${list(known)}`;
  const excerpt = question.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return `${label} I understood: “${excerpt}”.${memory} Ask me for an image, an edit or a video, or tell me to remember something.`;
}

function describe({ toolName, output }: ToolAnswer): string {
  const result = typeof output === 'object' && output !== null ? output : {};
  const status: unknown = Reflect.get(result, 'status');
  const failure: unknown = Reflect.get(result, 'failure');
  if (typeof failure === 'object' && failure !== null) return `${toolName}: ${String(Reflect.get(failure, 'message'))}`;
  switch (toolName) {
    case 'generateImage':
      return 'Here is your image, drawn by the offline renderer.';
    case 'editImage':
      return 'Here is the edited image, by the offline renderer.';
    case 'generateVideo':
      return status === 'completed' ? 'Here is your video, by the offline renderer.' : 'Your video is being made.';
    case 'saveMemory':
      return `I will remember: ${sentence(Reflect.get(result, 'content'))}`;
    case 'recallMemory': {
      const memories: unknown = Reflect.get(result, 'memories');
      const known = Array.isArray(memories) ? memories.map(String) : [];
      return known.length === 0 ? 'I remember nothing of that.' : `I remember: ${list(known)}`;
    }
    case 'forgetMemory': {
      const forgotten: unknown = Reflect.get(result, 'forgotten');
      return typeof forgotten === 'string' ? `I forgot: ${sentence(forgotten)}` : 'I did not find that in my memory.';
    }
    default:
      return `${toolName} answered.`;
  }
}

/** Contents can end with a full stop already. */
const withoutStop = (content: unknown): string => String(content).replace(/\.$/, '');
const sentence = (content: unknown): string => `${withoutStop(content)}.`;

/** Several memories can have the same content, for example with other scopes. */
const list = (contents: readonly string[]): string => sentence([...new Set(contents.map(withoutStop))].join('; '));

const words = 'the light over the quiet hills turns slowly into evening and nobody minds the time it takes '.split(' ');

export function fillerOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${words[index % (words.length - 1)]} `);
}
