/**
 * Spans of tool calls by OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span). No span has an argument or a result.
 */
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import { currentScope, inScope } from '#platform/telemetry/trace.ts';
import { failureOf } from './tooloutput.ts';

/** Calls to services that a tool makes belong to its span. */
export async function inToolSpan(
  telemetry: Telemetry,
  name: string,
  id: string,
  work: () => unknown,
): Promise<unknown> {
  const scope = currentScope();
  const { trace, end } = telemetry.startSpan('internal', `execute_tool ${name}`, scope?.trace, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
  });
  if (end === undefined) return work();
  try {
    const output = await (scope === undefined ? work() : inScope({ ...scope, trace }, work));
    const failure = failureOf(output);
    end({ attributes: failure === undefined ? {} : { 'error.type': failure }, failed: failure !== undefined });
    return output;
  } catch (error) {
    end({ attributes: { 'error.type': error instanceof Error ? error.name : '_OTHER' }, failed: true });
    throw error;
  }
}
