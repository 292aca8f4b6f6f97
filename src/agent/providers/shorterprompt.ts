/** Half of a prompt that its provider has refused for its length (docs/specification/agent.md#prompt). */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isNoteOfToolImage } from '../attachments.ts';
import { bytesPerToken, estimateTokens, imageTokens } from './promptsize.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];
type ToolResult = Extract<Part, { type: 'tool-result' }>;

/**
 * The newest messages that have half of the tokens, from a user's message on. The last question and its steps stay; if they
 * alone are more than half, their longest texts are cut in the middle, and their oldest images left out. `undefined`: nothing
 * could be left out.
 */
export function newestHalf(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt | undefined {
  const system = prompt.filter(({ role }) => role === 'system');
  const messages = prompt.filter(({ role }) => role !== 'system');
  const sizes = messages.map(sizeOf);
  const lastQuestion = messages.findLastIndex(isQuestion);
  let remaining = sumOf(sizes);
  const half = remaining / 2;
  let from = 0;
  while (from < lastQuestion && (remaining > half || !isQuestion(messages[from]))) {
    remaining -= sizes[from] ?? 0;
    from += 1;
  }
  const kept = messages.slice(from);
  const fitting = remaining > half ? withShorterTexts(withFewerImages(kept, half / 2), half) : kept;
  const isShorter = from > 0 || fitting.some((message, index) => message !== kept[index]);
  return isShorter ? [...system, ...fitting] : undefined;
}

/** Images that tools have made follow their step in a message of the user, which is no question. */
function isQuestion(message: LanguageModelV4Message | undefined): boolean {
  if (message?.role !== 'user') return false;
  const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 || !texts.every(isNoteOfToolImage);
}

function sizeOf(message: LanguageModelV4Message): number {
  if (typeof message.content === 'string') return estimateTokens(message.content);
  return sumOf(
    message.content.map((part) => (part.type === 'file' ? imageTokens : estimateTokens(JSON.stringify(part)))),
  );
}

function withFewerImages(messages: readonly LanguageModelV4Message[], maxTokens: number): LanguageModelV4Message[] {
  const count = sumOf(messages.map((message) => partsOf(message).filter(({ type }) => type === 'file').length));
  let excess = count - Math.floor(maxTokens / imageTokens);
  return messages.map((message) =>
    mapParts(message, (part) => {
      if (part.type !== 'file' || excess <= 0) return part;
      excess -= 1;
      return { type: 'text', text: '[an image that is left out]' };
    }),
  );
}

function withShorterTexts(messages: readonly LanguageModelV4Message[], maxTokens: number): LanguageModelV4Message[] {
  const texts = messages.flatMap((message) => partsOf(message).flatMap((part) => textOf(part) ?? []));
  const bytes = texts.map((text) => Buffer.byteLength(text));
  const otherBytes = sumOf(messages.map(sizeOf)) * bytesPerToken - sumOf(bytes);
  const maxBytes = levelOf(bytes, maxTokens * bytesPerToken - otherBytes);
  return messages.map((message) =>
    mapParts(message, (part) => {
      const text = textOf(part);
      return text === undefined || Buffer.byteLength(text) <= maxBytes ? part : withText(part, cut(text, maxBytes));
    }),
  );
}

/** The most that each may have, so that all together have at most `budget`. */
function levelOf(sizes: readonly number[], budget: number): number {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = budget;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return Math.max(share, leastBytes);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

const leastBytes = 300;

/** A question is often at the beginning or the end. */
function cut(text: string, maxBytes: number): string {
  const kept = Math.floor((text.length * maxBytes) / Buffer.byteLength(text) / 2);
  return `${text.slice(0, kept)}\n[…]\n${text.slice(-kept)}`.toWellFormed();
}

/** What can be cut. A signed text stays whole, and so does reasoning before tool calls: providers refuse changes to them. */
function textOf(part: Part): string | undefined {
  if (part.type === 'text' || part.type === 'reasoning') return isSigned(part) ? undefined : part.text;
  if (part.type !== 'tool-result') return undefined;
  const { output } = part;
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  return output.type === 'json' || output.type === 'error-json' ? JSON.stringify(output.value) : undefined;
}

/** Anthropic's, Google's and OpenAI's proof that they wrote it. */
const isSigned = ({ providerOptions = {} }: Part) =>
  Object.values(providerOptions).some(
    ({ signature, thoughtSignature, reasoningEncryptedContent }) =>
      (signature ?? thoughtSignature ?? reasoningEncryptedContent) != null,
  );

function withText(part: Part, text: string): Part {
  if (part.type === 'text' || part.type === 'reasoning') return { ...part, text };
  const type = (part as ToolResult).output.type.startsWith('error') ? 'error-text' : 'text';
  return { ...(part as ToolResult), output: { type, value: text } };
}

const partsOf = ({ content }: LanguageModelV4Message): readonly Part[] => (typeof content === 'string' ? [] : content);

/** The same message, if no part changes. */
function mapParts(message: LanguageModelV4Message, change: (part: Part) => Part): LanguageModelV4Message {
  const parts = partsOf(message);
  const changed = parts.map(change);
  if (changed.every((part, index) => part === parts[index])) return message;
  // A part takes the place of one that the message may have.
  return { ...message, content: changed } as LanguageModelV4Message;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
