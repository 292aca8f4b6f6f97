/** Certificates that are their own authority, by openssl. */
import { execFileSync } from 'node:child_process';
import { clockEnv } from './clock.fixture.ts';

export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** `names`: as in `subjectAltName`, such as `DNS:example.com` or `IP:127.0.0.1`. */
export function makeCertificate(names: readonly string[], files: Certificate): void {
  request(names, files);
}

/** Like `makeCertificate`, but the certificate expired two days ago. Needs `faketime`. */
export function makeExpiredCertificate(names: readonly string[], files: Certificate): void {
  request(names, files, clockEnv('-3d'));
}

function request(names: readonly string[], { certificateFile, keyFile }: Certificate, env = {}): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const subject = ['-subj', '/CN=Atelier tests', '-addext', `subjectAltName=${names.join()}`];
  const options = ['req', '-x509', '-days', '1', ...key, ...subject, '-out', certificateFile];
  execFileSync('openssl', options, { stdio: 'ignore', env: { ...process.env, ...env } });
}
