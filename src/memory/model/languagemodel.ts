/**
 * The language model that judges and extracts memories. It is asked for JSON of one schema: by `response_format`, or by
 * one forced tool if its server refuses schemas. Contents of memories and messages are data in the user's message; only
 * the instructions are in the system's.
 */
import {
  APICallError,
  type JSONSchema7,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import { z } from 'zod';

export interface Question<Answer> {
  /** The name of the schema or tool: letters and underscores. */
  readonly name: string;
  readonly instructions: string;
  readonly data: object;
  /** The whole answer must match. Constraints that JSON schema cannot express are refinements. */
  readonly answer: z.ZodType<Answer>;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelAnswer<Answer> {
  readonly answer: Answer;
  readonly usage: ModelUsage;
}

export interface MemoryModel {
  /** For the usage of callers. */
  readonly id: string;
  /** Rejects with AnswerRejected, with the reason of the signal, or with what the model's server failed with. */
  ask<Answer>(question: Question<Answer>, signal: AbortSignal): Promise<ModelAnswer<Answer>>;
}

/** The model answered, and the answer is unusable. */
export class AnswerRejected extends Error {
  constructor(reason: string) {
    super(`The answer of the memory model is rejected: ${reason}`);
    this.name = 'AnswerRejected';
  }
}

const mostAnswerCharacters = 200_000;

interface NamedModel {
  readonly id: string;
  readonly model: LanguageModelV4;
}

export function createMemoryModel({ id, model }: NamedModel): MemoryModel {
  let refusesSchemas = false;
  return {
    id,
    async ask(question, signal) {
      const schema = schemaOf(question.answer);
      if (!refusesSchemas) {
        try {
          return await read(model, question, withSchema(question, schema, signal));
        } catch (error) {
          if (!mayRefuseSchema(error)) throw error;
        }
      }
      const answer = await read(model, question, withTool(question, schema, signal));
      refusesSchemas = true;
      return answer;
    },
  };
}

function promptOf({ instructions, data }: Question<unknown>): LanguageModelV4CallOptions['prompt'] {
  return [
    { role: 'system', content: instructions },
    { role: 'user', content: [{ type: 'text', text: JSON.stringify(data) }] },
  ];
}

function withSchema(
  question: Question<unknown>,
  schema: JSONSchema7,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const { name } = question;
  return { prompt: promptOf(question), responseFormat: { type: 'json', name, schema }, abortSignal };
}

function withTool(
  question: Question<unknown>,
  schema: JSONSchema7,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const { name } = question;
  return {
    prompt: promptOf(question),
    tools: [{ type: 'function', name, description: 'Takes the answer.', inputSchema: schema }],
    toolChoice: { type: 'tool', toolName: name },
    abortSignal,
  };
}

function schemaOf(answer: z.ZodType): JSONSchema7 {
  const { $schema: _, ...schema } = z.toJSONSchema(answer, { target: 'draft-7' });
  return schema as JSONSchema7;
}

/** Servers refuse a field that they do not know with one of these, and words of their own. */
function mayRefuseSchema(error: unknown): boolean {
  return APICallError.isInstance(error) && [400, 404, 422, 501].includes(error.statusCode ?? 0);
}

async function read<Answer>(
  model: LanguageModelV4,
  question: Question<Answer>,
  call: LanguageModelV4CallOptions,
): Promise<ModelAnswer<Answer>> {
  const { stream } = await model.doStream(call);
  let text = '';
  let characters = 0;
  let toolInput: string | undefined;
  let usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  let isComplete = false;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if ('delta' in part) characters += part.delta.length;
    if (part.type === 'text-delta') text += part.delta;
    if (part.type === 'tool-call' && part.toolName === question.name) toolInput = part.input;
    if (part.type === 'finish') {
      const { inputTokens, outputTokens } = part.usage;
      usage = { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 };
      isComplete = part.finishReason.unified === 'stop' || part.finishReason.unified === 'tool-calls';
    }
    // The request ends here, so a model that does not stop costs no more.
    if (characters > mostAnswerCharacters) throw new AnswerRejected('it is too long');
  }
  call.abortSignal?.throwIfAborted();
  if (!isComplete) throw new AnswerRejected('it is not complete');
  const parsed = question.answer.safeParse(parse(toolInput ?? text));
  if (!parsed.success) throw new AnswerRejected(describe(parsed.error));
  return { answer: parsed.data, usage };
}

/** Without words of the answer, which may be those of a user. */
function describe({ issues: [first] }: z.ZodError): string {
  return `${first?.path.join('.') || 'the whole answer'}: ${first?.code ?? 'custom'}`;
}

/** Some models put JSON into a block of Markdown, whatever was requested. */
const block = /^```(?:json)?\n(.*)\n```$/s;

function parse(text: string): unknown {
  const trimmed = text.trim();
  try {
    return JSON.parse(block.exec(trimmed)?.[1] ?? trimmed);
  } catch {
    throw new AnswerRejected('it is not JSON');
  }
}
