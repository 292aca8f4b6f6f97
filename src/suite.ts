/**
 * The suite: starts each chosen service on its port over the engines that it needs, and closes all of it in the right
 * order. `npm start` and the tests call the same.
 */
import { resizeSigner } from '#edge/api.ts';
import { createEdge } from '#edge/service.ts';
import { createImageService } from '#image/service.ts';
import { createIdentityProvider } from '#local/idp/service.ts';
import { createMedia } from '#media/service.ts';
import { createAccess } from '#platform/access/access.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer, ServerCommons } from '#platform/http/server.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import { startTelemetry } from '#platform/telemetry.ts';
import { addressesOf, agentOriginsOf, bindingOf, type Config, type ServiceName } from './config.ts';
import { createEngines, type Engines } from './engines.ts';

export interface Suite {
  /** Of the services that were started. */
  readonly addresses: Readonly<Partial<Record<ServiceName, string>>>;
  /** Drains: services finish what is in flight, then the edge, then the engines close (CONTRACT §§1 and 3). */
  close(): Promise<void>;
}

/** Throws StartFault with one readable line; what was opened before is closed again. */
export async function startSuite(config: Config, services: readonly ServiceName[], log: Log): Promise<Suite> {
  const closers = new Closers();
  const engines = createEngines(config, log, closers);
  const servers = new Map<ServiceName, HttpServer>();
  const close = async () => {
    const edge = servers.get('edge');
    await Promise.all([...servers.values()].filter((server) => server !== edge).map((server) => server.close()));
    // Uploads and runs in flight read and write through the edge.
    await edge?.close();
    await closers.closeAll();
  };
  try {
    for (const service of services) {
      const commons = await openCommons(config, service, log.child({ service }), closers);
      const server = await wirings[service]({ config, engines, server: commons, log: commons.log });
      servers.set(service, server);
      await listen(server, service, config);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const all = addressesOf(config);
  return { addresses: Object.fromEntries(services.map((service) => [service, all[service]])), close };
}

interface Wiring {
  readonly config: Config;
  readonly engines: Engines;
  readonly server: ServerCommons;
  readonly log: Log;
}

const wirings: Readonly<Record<ServiceName, (wiring: Wiring) => Promise<HttpServer>>> = {
  media: async ({ config, engines, server, log }) => {
    const database = await engines.database();
    const { originals, publicObjects } = await engines.objects();
    const readiness = {
      database: () => database.check(),
      originals: () => originals.check(),
      variants: () => publicObjects.check(),
    };
    return createMedia({
      server: { ...server, readiness },
      agentOrigins: agentOriginsOf(config),
      clock,
      access: createAccess({
        internalKeys: config.internal.keys,
        jwksUrl: jwksUrlOf(config),
        rateLimitPerMinute: config.process.rateLimitPerMinute,
        log,
        clock,
      }),
      database,
      originals,
      engine: await engines.pictures(),
      variants: await engines.variants(),
      screening: await engines.screening(),
      resizeAddress: resizeSigner({
        baseUrl: config.resizing.proxyUrl ?? addressesOf(config).edge,
        key: config.resizing.key,
        salt: config.resizing.salt,
      }),
      settings: config.media,
    });
  },

  image: async ({ config, engines, server }) => {
    const { originals, publicObjects } = await engines.objects();
    return createImageService({
      server: { ...server, readiness: { originals: () => originals.check(), variants: () => publicObjects.check() } },
      settings: { ...config.image, ...config.imageService },
      variants: await engines.variants(),
      originals,
      publicUrl: config.resizing.cdnUrl ?? addressesOf(config).edge,
    });
  },

  edge: async ({ config, engines, server }) => {
    const { originals, publicObjects } = await engines.objects();
    return createEdge({
      server: { ...server, readiness: { originals: () => originals.check(), variants: () => publicObjects.check() } },
      clock,
      resizing: config.resizing,
      originals,
      publicObjects,
      variants: await engines.variants(),
    });
  },

  idp: async ({ config, server }) =>
    createIdentityProvider({
      server,
      clock,
      settings: config.localIdp,
      dataDir: config.process.dataDir,
      publicUrl: addressesOf(config).idp,
    }),
};

async function openCommons(config: Config, service: ServiceName, log: Log, closers: Closers): Promise<ServerCommons> {
  const { otelEndpoint: endpoint, maxInFlight } = config.process;
  const telemetry = await startTelemetry({ endpoint, service });
  closers.add(`telemetry of ${service}`, () => telemetry.stop());
  return { log, telemetry, maxInFlight };
}

function jwksUrlOf(config: Config): string {
  return config.identity.jwksUrl ?? `${addressesOf(config).idp}/auth/v1/.well-known/jwks.json`;
}

async function listen(server: HttpServer, service: ServiceName, config: Config): Promise<void> {
  const { host, port } = bindingOf(config, service);
  await server.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new StartFault(`ATELIER_PORT_BASE: port ${port} (${service}) is taken by another program.`);
    throw new StartFault(`HOST: cannot listen on ${host}:${port} (${error.message}).`);
  });
}
