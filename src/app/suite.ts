/**
 * Starts each chosen service on its port over the engines that it needs, and closes everything in the right order. `npm start` and
 * the tests use the same call.
 */
import type { FastifyRequest } from 'fastify';
import { tightenFolder } from '#platform/datafolder/permissions.ts';
import { fullDisk } from '#platform/db/lock.ts';
import type { HttpServer, ServerCommons } from '#platform/http/server.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { openTelemetry } from '#platform/telemetry/open.ts';
import { addressesOf, bindingOf, type Config, isAlone, type ServiceName, usesDatabase } from './config.ts';
import { createEngines } from './engines.ts';
import { acquireServiceLeases } from './servicelease.ts';
import type { Wiring } from './wiring/wiring.ts';

export interface Suite {
  /** URLs of the started services. */
  readonly addresses: Readonly<Partial<Record<ServiceName, string>>>;
  /** Drains: services finish their requests in flight, then the edge closes, then the engines (docs/specification/http.md#draining). */
  close(): Promise<void>;
}

/** Throws StartFault with one readable line. Everything that was already opened is closed. */
export async function startSuite(config: Config, services: readonly ServiceName[], log: Log): Promise<Suite> {
  const closers = new Closers();
  const engines = createEngines(config, log, closers);
  const servers = new Map<ServiceName, HttpServer>();
  let isStarting = true;
  let isClosing = false;
  /**
   * The call comes from an internal service (docs/specification/http.md#draining). While the suite closes, only the agent's last runs make
   * such calls.
   */
  const isForRuns = ({ headers }: FastifyRequest) => isClosing && headers['x-internal-key'] !== undefined;
  const close = async () => {
    const [edge, agent] = [servers.get('edge'), servers.get('agent')];
    const others = [...servers.values()].filter((server) => server !== edge && server !== agent);
    isClosing = true;
    // These services now reject new requests, except calls for runs in progress until those have ended.
    const drained = agent === undefined ? [] : others.map((server) => server.drain());
    await agent?.close();
    await Promise.all(drained);
    await Promise.all(others.map((server) => server.close()));
    // Uploads and runs in progress read and write through the edge, so it closes after them.
    await edge?.close();
    await closers.closeAll();
  };
  try {
    await tightenFolder(config.process.dataDir, log);
    const bound = isAlone(config) ? services.filter(usesDatabase) : [];
    const serviceLeases =
      bound.length > 0 ? await acquireServiceLeases(bound, await engines.database(), log, closers) : undefined;
    // The agent starts last: the runs that it continues call the other services at once.
    const isAgent = (service: ServiceName) => service === 'agent';
    for (const service of services.toSorted((one, other) => Number(isAgent(one)) - Number(isAgent(other)))) {
      const serviceLease = serviceLeases?.get(service);
      const commons = await openCommons(config, service, log.child({ service }), closers);
      const wire = await wirings[service]();
      const server = await wire({
        config,
        services,
        engines,
        server: {
          ...commons,
          isStarting: () => isStarting,
          servedWhileDraining: isForRuns,
          ...(serviceLease && { mayServe: () => serviceLease.isHeld() }),
        },
        log: commons.log,
        ...(serviceLease && { serviceLease }),
      });
      servers.set(service, server);
      await listen(server, service, config);
    }
  } catch (error) {
    await close();
    if (error instanceof Problem && error.code === 'storage_full') throw fullDisk(config.process.dataDir);
    throw error;
  }
  isStarting = false;
  const all = addressesOf(config);
  return { addresses: Object.fromEntries(services.map((service) => [service, all[service]])), close };
}

/** A process loads only the code of its own services. */
const wirings: Readonly<Record<ServiceName, () => Promise<(wiring: Wiring) => Promise<HttpServer>>>> = {
  media: async () => (await import('./wiring/media.ts')).wireMedia,
  memory: async () => (await import('./wiring/memory.ts')).wireMemory,
  image: async () => (await import('./wiring/image.ts')).wireImage,
  auth: async () => (await import('./wiring/auth.ts')).wireAuth,
  agent: async () => (await import('./wiring/agent.ts')).wireAgent,
  content: async () => (await import('./wiring/content.ts')).wireContent,
  notify: async () => (await import('./wiring/notify.ts')).wireNotify,
  edge: async () => (await import('./wiring/edge.ts')).wireEdge,
  idp: async () => (await import('./wiring/idp.ts')).wireIdp,
  cms: async () => (await import('./wiring/cms.ts')).wireCms,
  console: async () => (await import('./wiring/console.ts')).wireConsole,
};

async function openCommons(config: Config, service: ServiceName, log: Log, closers: Closers): Promise<ServerCommons> {
  const { otelEndpoint: endpoint, maxInFlight, maxTransfers } = config.process;
  const telemetry = await openTelemetry({ endpoint, service });
  closers.add(`telemetry of ${service}`, () => telemetry.stop());
  return { log, telemetry, maxInFlight, maxTransfers };
}

async function listen(server: HttpServer, service: ServiceName, config: Config): Promise<void> {
  const { host, port } = bindingOf(config, service);
  await server.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new StartFault(
        `ATELIER_PORT_BASE: another program uses port ${port} (${service}). Stop it, or set another base.`,
      );
    // Fastify first runs the hooks of the service, which can also fail.
    if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') throw error;
    throw new StartFault(`HOST: cannot listen on ${host}:${port} (${error.message}).`);
  });
}
