/** Sends traces to a collector by OTLP over HTTP. open.ts loads it only if tracing is on. */
import {
  type Attributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as traceApi,
} from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { waitAtMost } from '../resilience.ts';
import { userAgent, version } from '../version.ts';
import type { SpanKind as Kind, Telemetry, Attributes as TelemetryAttributes, Trace } from './trace.ts';

const exportTimeoutMs = 5000;
const stopTimeoutMs = 3000;

export function startExporting(options: { readonly endpoint: string; readonly service: string }): Telemetry {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
    userAgent,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.service,
      'service.namespace': 'atelier',
      'service.version': version,
    }),
    // The service that started a trace decided whether it is recorded.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  });
  const tracer = provider.getTracer('atelier', version);

  return {
    startSpan(kind, name, parent, attributes) {
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: writable(attributes) }, contextOf(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        trace: { state: parent?.state, traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 },
        end(outcome) {
          if (outcome.name !== undefined) span.updateName(outcome.name);
          span.setAttributes(writable(outcome.attributes));
          if (outcome.failed) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    stop: async () => {
      // If the collector is unavailable, only the last spans are lost.
      await waitAtMost(
        stopTimeoutMs,
        provider.shutdown().catch(() => undefined),
      );
    },
  };
}

const kinds: Readonly<Record<Kind, SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** The SDK takes mutable arrays. */
function writable(attributes: TelemetryAttributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}

function contextOf(parent: Trace | undefined) {
  if (parent === undefined) return ROOT_CONTEXT;
  return traceApi.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    traceState: parent.state === undefined ? undefined : new TraceState(parent.state),
  });
}
