import { createCms } from '#local/cms/service.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Wiring } from './wiring.ts';

export async function wireCms({ config, server }: Wiring): Promise<HttpServer> {
  return createCms({ server, dataDir: config.process.dataDir });
}
