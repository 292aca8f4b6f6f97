/** The edge (docs/specification/system.md#edge) is stateless, so any number can run in front of the configured stores. */
import { engineProblems } from '#image/engine/problems.ts';
import { stopListening } from '#platform/http/admission.ts';
import type { HttpServer, ServerOptions } from '#platform/http/httpserver.ts';
import { createServer } from '#platform/http/server.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { pathSigner } from './api.ts';
import type { EdgeSettings } from './config.ts';
import type { EdgeContext } from './context.ts';
import { noPresets } from './presets.ts';
import { edgeProblems } from './problems.ts';
import { createUploads } from './receiving.ts';
import { addRoutes, anyOrigin } from './routes.ts';
import { addShareRoutes, type SharePages } from './shares/routes.ts';
import { createSessions } from './tus/sessions.ts';

export interface EdgeDeps extends Pick<EdgeContext, 'clock' | 'publicObjects' | 'variants'> {
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** IMGPROXY_KEY and IMGPROXY_SALT (hex). File URLs are signed with a key derived from them. */
  readonly resizing: { readonly key: string; readonly salt: string };
  readonly originals: Objects;
  /** Further buckets that signed URLs may name: those of the legacy backend. */
  readonly otherBucket?: (name: string) => Objects | undefined;
  /** `undefined`: there are no pages of shares. */
  readonly shares?: SharePages | undefined;
  /** Without presets: none. */
  readonly settings: Omit<EdgeSettings, 'presets'> & Partial<Pick<EdgeSettings, 'presets'>>;
}

/** A 2 GiB upload over a slow connection takes hours. A stalled one ends much sooner. */
const longestUploadMs = 6 * 60 * 60 * 1000;

export function createEdge(deps: EdgeDeps): HttpServer {
  const { originals, publicObjects, variants, clock, resizing, otherBucket, settings } = deps;
  const sessions = createSessions();
  const app: HttpServer = createServer({
    ...deps.server,
    service: 'edge',
    reference: {
      description:
        'Serves files and variants at signed URLs, accepts uploads, and resizes images by the URL format of imgproxy.',
      tags: { edge: 'Signed files, variants and uploads.' },
      problems: { ...edgeProblems.table, ...engineProblems.table },
    },
    cors: anyOrigin,
    requestTimeoutMs: longestUploadMs,
    // Nothing can send the body of an upload again to another process, as for other requests. So new connections go there, and
    // uploads on open ones are stored.
    servedWhileDraining: ({ method }) => method === 'PUT',
    onDrain: async () => {
      sessions.drain();
      await stopListening(app);
    },
  });
  // Without a listener, Node requests the body before the handler has checked the request.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  const context: EdgeContext = {
    clock,
    addressKey: deriveAddressKey(resizing.key, resizing.salt),
    signPath: pathSigner(resizing.key, resizing.salt),
    bucket: (name: string) => (name === originals.bucket ? originals : otherBucket?.(name)),
    isReplaceable: (name: string) => name !== originals.bucket,
    publicObjects,
    variants,
    presets: settings.presets ?? noPresets,
    sessions,
    uploads: createUploads({ ...settings, makeRoom: () => app.transfers.endSlowest('in') }),
  };
  addRoutes(app, context);
  if (deps.shares) addShareRoutes(app, deps.shares, context);
  return app;
}
