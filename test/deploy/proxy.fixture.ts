/** A real nginx with deploy/nginx and host.conf, unchanged except for names and ports, and with its own certificate. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch as fetchWith } from 'undici';
import { root } from '../acceptance/running.fixture.ts';
import { makeCertificate } from '../certificate.fixture.ts';

export interface NginxProxy {
  /** Resolves every name to this proxy and trusts its certificate. */
  readonly fetch: typeof fetch;
  /** The same from an address of the private network, or from its gateway. */
  readonly fetchInside: typeof fetch;
  readonly fetchFromGateway: typeof fetch;
  readonly logged: () => Promise<string>;
  close(): Promise<void>;
}

export interface ProxyPlace {
  readonly domain: string;
  readonly filesDomain: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Port bases of the processes `app-1` and `app-2` behind it. */
  readonly portBases: readonly [number, number];
  /** The port of the object store. */
  readonly s3Port?: number;
  /** Replaces the shipped limit of concurrent requests per client. */
  readonly clientLimit?: number;
}

export async function startProxy(place: ProxyPlace): Promise<NginxProxy> {
  const { domain, filesDomain, httpPort, httpsPort, portBases, s3Port = 1, clientLimit = 256 } = place;
  const folder = await mkdtemp(join(tmpdir(), 'atelier-nginx-'));
  const at = (name: string) => join(folder, name);
  await Promise.all(['atelier', 'certificates', 'log', 'temp'].map((name) => mkdir(at(name))));
  makeCertificate(
    [domain, filesDomain].flatMap((name) => [`DNS:${name}`, `DNS:*.${name}`]),
    { certificateFile: at('certificates/fullchain.pem'), keyFile: at('certificates/privkey.pem') },
  );
  const fill = (text: string) =>
    text
      .replaceAll(/\$\{ATELIER_DOMAIN\}/g, domain)
      .replaceAll(/\$\{ATELIER_FILES_DOMAIN\}/g, filesDomain)
      .replaceAll(/\$\{S3_BUCKET\}/g, 'originals')
      .replaceAll(/\$\{S3_PUBLIC_BUCKET\}/g, 'variants')
      // All clients of these tests are on this machine.
      .replace('127.0.0.0/8 1;', `${privateNetwork}.0/24 1; ${privateNetwork}.1 0;`)
      .replaceAll('limit_conn clients 256;', `limit_conn clients ${clientLimit};`)
      .replaceAll(/\blisten 443\b/g, `listen 127.0.0.1:${httpsPort}`)
      .replaceAll(/\blisten 80\b/g, `listen 127.0.0.1:${httpPort}`)
      .replaceAll(/\b127\.0\.0\.1:4([01])(\d\d)\b/g, (_all, app, offset) =>
        local((portBases[app] ?? 0) + Number(offset)),
      )
      .replaceAll('127.0.0.1:8333', local(s3Port))
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replaceAll('/var/log/nginx/', `${folder}/log/`);
  const source = join(root, 'deploy/nginx');
  await writeFile(at('atelier.conf'), fill(await readFile(join(source, 'atelier.conf.template'), 'utf8')));
  for (const name of ['proxy', 'inside', 'server', 'drained'])
    await writeFile(at(`atelier/${name}.conf`), fill(await readFile(join(source, `${name}.conf`), 'utf8')));
  await writeFile(at('atelier/place.conf'), fill(await readFile(join(source, 'host.conf'), 'utf8')));
  await writeFile(at('nginx.conf'), mainFile(folder));

  const child = spawn('nginx', ['-p', folder, '-e', at('log/error.log'), '-c', at('nginx.conf')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const ca = await readFile(at('certificates/fullchain.pem'), 'utf8');
  const from = (localAddress: string) => {
    const agent = new Agent({ localAddress, connect: { ca, lookup: atLoopback } });
    const ask = ((url: string, init?: object) =>
      fetchWith(url, { ...init, dispatcher: agent })) as unknown as typeof fetch;
    return { agent, ask };
  };
  const [outside, inside, gateway] = [from('127.0.0.1'), from(`${privateNetwork}.7`), from(`${privateNetwork}.1`)];
  const close = async () => {
    child.kill('SIGTERM');
    await Promise.all([ended, ...[outside, inside, gateway].map(({ agent }) => agent.close())]);
    await rm(folder, { recursive: true });
  };
  while (!(await listens(httpPort))) {
    if (child.exitCode !== null) {
      const reason = await readFile(at('log/error.log'), 'utf8');
      await close();
      throw new Error(`nginx did not start:\n${reason}`);
    }
    await sleep(50);
  }
  return {
    fetch: outside.ask,
    fetchInside: inside.ask,
    fetchFromGateway: gateway.ask,
    logged: () => readFile(at('log/access.log'), 'utf8'),
    close,
  };
}

/** Loopback addresses that represent the inside, with a gateway that is outside, as in deploy/nginx/containers.conf. */
const privateNetwork = '127.0.213';

const local = (port: number) => `127.0.0.1:${port}`;

/** The main configuration that the image and Debian have around conf.d. Debian allows old versions of TLS. */
const mainFile = (folder: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
worker_processes auto;
events { worker_connections 768; }
http {
  log_format main '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"';
  access_log ${folder}/log/access.log main;
  ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temp/${name};`).join('\n  ')}
  include ${folder}/atelier.conf;
}
`;

type Lookup = (
  name: string,
  options: { readonly all?: boolean },
  found: (error: null, address: string | { address: string; family: number }[], family?: number) => void,
) => void;
const atLoopback: Lookup = (_name, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

async function listens(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );
}
