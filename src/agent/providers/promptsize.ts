/**
 * How many tokens a prompt has. Tokenizers differ between models, so this is an estimate that errs on the safe side: one
 * token for three bytes of UTF-8. English has about four bytes a token, Chinese and Japanese at most about three.
 */
import { APICallError } from '@ai-sdk/provider';

export const bytesPerToken = 3;
/** An image of at most 1568 pixels a side, with the largest of the common formulas. */
export const imageTokens = 1600;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

const signs = [
  'context_length',
  'context length',
  'context window',
  'context size',
  'maximum context',
  'too long',
  'too large for',
  'too many tokens',
  'token limit',
  'tokens limit',
  'input tokens',
  'maximum number of tokens',
];

/** A provider refuses a prompt for its length in words of its own. */
export function isContextTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error) || ![400, 413, 422].includes(error.statusCode ?? 0)) return false;
  const reason = `${error.message} ${error.responseBody?.slice(0, 10_000) ?? ''}`.toLowerCase();
  return signs.some((sign) => reason.includes(sign));
}
