/** A real nginx with deploy/nginx as it stands, but for names and ports, and with a certificate of its own making. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch as fetchWith } from 'undici';
import { root } from '../acceptance/running.ts';

export interface NginxProxy {
  /** As a browser does that finds every name at this proxy and trusts its certificate. */
  readonly fetch: typeof fetch;
  readonly logged: () => Promise<string>;
  close(): Promise<void>;
}

export interface ProxyPlace {
  readonly domain: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Ports of the processes behind it: of `app-1`, `app-2`. */
  readonly portBases: readonly [number, number];
}

export async function startProxy({ domain, httpPort, httpsPort, portBases }: ProxyPlace): Promise<NginxProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-nginx-'));
  const at = (name: string) => join(folder, name);
  await Promise.all(['atelier', 'certificates', 'log', 'temp'].map((name) => mkdir(at(name))));
  makeCertificate(domain, at('certificates/fullchain.pem'), at('certificates/privkey.pem'));
  const place = (text: string) =>
    text
      .replaceAll(/\$\{ATELIER_DOMAIN\}/g, domain)
      .replaceAll(/\blisten 443\b/g, `listen 127.0.0.1:${httpsPort}`)
      .replaceAll(/\blisten 80\b/g, `listen 127.0.0.1:${httpPort}`)
      .replaceAll(/\bapp-([12]):40(\d\d)\b/g, (_all, app, offset) => local((portBases[app - 1] ?? 0) + Number(offset)))
      .replaceAll('console:4000', local(portBases[0]))
      .replaceAll('s3:9000', local(1))
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replaceAll('/var/log/nginx/', `${folder}/log/`);
  const source = join(root, 'deploy/nginx');
  await writeFile(at('atelier.conf'), place(await readFile(join(source, 'atelier.conf.template'), 'utf8')));
  await copyFile(join(source, 'proxy.conf'), at('atelier/proxy.conf'));
  await writeFile(at('atelier/inside.conf'), place(await readFile(join(source, 'inside.conf'), 'utf8')));
  await writeFile(at('nginx.conf'), mainFile(folder));

  const child = spawn('nginx', ['-p', folder, '-e', at('log/error.log'), '-c', at('nginx.conf')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const ca = await readFile(at('certificates/fullchain.pem'), 'utf8');
  const browser = new Agent({ connect: { ca, lookup: atLoopback } });
  const close = async () => {
    child.kill('SIGTERM');
    await Promise.all([ended, browser.close()]);
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
    fetch: ((url: string, init?: object) =>
      fetchWith(url, { ...init, dispatcher: browser })) as unknown as typeof fetch,
    logged: () => readFile(at('log/access.log'), 'utf8'),
    close,
  };
}

const local = (port: number) => `127.0.0.1:${port}`;

/** What the image of nginx has around the files of conf.d. */
const mainFile = (folder: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temp/${name};`).join('\n  ')}
  include ${folder}/atelier.conf;
}
`;

function makeCertificate(domain: string, certificate: string, key: string): void {
  const names = `subjectAltName=DNS:${domain},DNS:*.${domain}`;
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', [...words, '-subj', `/CN=${domain}`, '-addext', names, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
}

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
