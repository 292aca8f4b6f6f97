/**
 * Spans of model calls by OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/). No span has a word of a prompt or of an answer.
 */
import { APICallError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Attributes, Telemetry } from '#platform/telemetry/telemetry.ts';
import { currentScope } from '#platform/telemetry/trace.ts';

export interface ChatSpan {
  /** Reads what the answer reports about itself. */
  observe(part: LanguageModelV4StreamPart): void;
  /** With an error, the call has failed. Further calls do nothing. */
  end(error?: unknown): void;
}

/** Names of the convention, where they differ from the names of the SDK's packages. */
const wellKnown: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

export function startChatSpan(telemetry: Telemetry, providerName: string, modelId: string): ChatSpan {
  const span = telemetry.startSpan('client', `chat ${modelId}`, currentScope()?.trace, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': wellKnown[providerName] ?? providerName,
    'gen_ai.request.model': modelId,
  });
  let { end } = span;
  let attributes: Attributes = {};
  return {
    observe(part) {
      if (end === undefined) return;
      if (part.type === 'response-metadata' || part.type === 'finish')
        attributes = { ...attributes, ...describe(part) };
    },
    end(error) {
      if (error !== undefined) attributes = { ...attributes, 'error.type': typeOf(error) };
      end?.({ attributes, failed: error !== undefined });
      end = undefined;
    },
  };
}

type Reported = Extract<LanguageModelV4StreamPart, { type: 'response-metadata' | 'finish' }>;

function describe(part: Reported): Attributes {
  if (part.type === 'response-metadata') {
    const { id, modelId } = part;
    return { ...(id && { 'gen_ai.response.id': id }), ...(modelId && { 'gen_ai.response.model': modelId }) };
  }
  const { inputTokens, outputTokens } = part.usage;
  const { unified, raw } = part.finishReason;
  return {
    'gen_ai.response.finish_reasons': [raw || unified],
    ...(inputTokens.total !== undefined && { 'gen_ai.usage.input_tokens': inputTokens.total }),
    ...(outputTokens.total !== undefined && { 'gen_ai.usage.output_tokens': outputTokens.total }),
  };
}

/** Of few values, as the convention requires: the status of a refusal, or the name of the error. */
function typeOf(error: unknown): string {
  if (APICallError.isInstance(error) && error.statusCode !== undefined) return String(error.statusCode);
  return error instanceof Error ? error.name : '_OTHER';
}
