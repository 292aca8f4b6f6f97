/** Chooses the implementation: off unless OTEL_EXPORTER_OTLP_ENDPOINT is set. The SDK is loaded only then. */
import { noTelemetry, type Telemetry } from './trace.ts';

export async function openTelemetry(options: {
  readonly endpoint: string | undefined;
  readonly service: string;
}): Promise<Telemetry> {
  if (options.endpoint === undefined) return noTelemetry;
  const { startExporting } = await import('./otlp.ts');
  return startExporting({ endpoint: options.endpoint, service: options.service });
}
