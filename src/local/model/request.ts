/**
 * Finds out what a message requests from the offline model, by plain words. The result is the same for the same words.
 */

export type Script =
  | { readonly kind: 'slow'; readonly seconds: number }
  | { readonly kind: 'long'; readonly words: number }
  | { readonly kind: 'fail' };

export interface ToolRequest {
  readonly toolName: 'generateImage' | 'editImage' | 'generateVideo' | 'saveMemory' | 'recallMemory' | 'forgetMemory';
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly script: Script | undefined;
  readonly toolRequests: readonly ToolRequest[];
}

const longestText = 100_000;
const promptLength = 500;
/** Characters that are read. Every request that a user means comes within these. */
const longestQuestion = 4_000;

export function readRequest(message: string): ModelRequest {
  const question = message
    .slice(0, longestQuestion)
    .toWellFormed()
    .replace(/\s+/g, (run) => (run.includes('\n') ? '\n' : ' '));
  return { script: scriptIn(question), toolRequests: toolRequestsIn(question) };
}

function scriptIn(message: string): Script | undefined {
  const [, word, number] = /(?:^|\s)\/(slow|fail|long)\b(?:\s+(\d{1,6}))?/.exec(message) ?? [];
  if (word === 'fail') return { kind: 'fail' };
  if (word === 'slow') return { kind: 'slow', seconds: Math.min(Number(number ?? 20), 600) };
  if (word === 'long') return { kind: 'long', words: Math.min(Number(number ?? 1000), longestText) };
  return undefined;
}

/** Up to the end of the sentence. */
const remember = /\bremember\b(?: that)?[ :,\n]+([^.!?;\n]+)/i;
/** Where the next request of the same sentence begins. */
const furthermore = / and (?:then )?(?:make|create|draw|show|generate|edit)\b/i;
/** Only at the beginning, because many sentences mention forgetting. */
const forget = /^(?:please,? )?forget(?: that)?[ :,\n]+([^.!?;\n]+)/i;
const recall = /\brecall\b|\bwhat do you (?:know|remember)\b/i;

function toolRequestsIn(message: string): readonly ToolRequest[] {
  const prompt = message.trim().slice(0, promptLength) || 'something';
  if (recall.test(message)) return [{ toolName: 'recallMemory', input: { query: prompt } }];
  const forgotten = forget.exec(message.trim())?.[1]?.trim() ?? '';
  if (forgotten !== '') return [{ toolName: 'forgetMemory', input: { query: forgotten } }];
  const [, sentence = ''] = remember.exec(message) ?? [];
  const content = sentence.split(furthermore, 1).join('').trim();
  const rest = message.replace(content, '');
  const toolRequests: ToolRequest[] = [];
  if (content !== '') toolRequests.push({ toolName: 'saveMemory', input: { content } });
  if (/\bedit\b/i.test(rest)) toolRequests.push({ toolName: 'editImage', input: { prompt } });
  else if (/\b(?:images?|pictures?)\b/i.test(rest)) toolRequests.push({ toolName: 'generateImage', input: { prompt } });
  if (/\bvideos?\b|(?:^|\s)\/insufficient\b/i.test(rest))
    toolRequests.push({ toolName: 'generateVideo', input: { prompt } });
  return toolRequests;
}
