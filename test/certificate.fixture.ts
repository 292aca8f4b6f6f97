/** Certificates that are their own authority, by openssl. */
import { execFileSync } from 'node:child_process';

export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** `names`: as in `subjectAltName`, such as `DNS:example.com` or `IP:127.0.0.1`. */
export function makeCertificate(names: readonly string[], { certificateFile, keyFile }: Certificate): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const subject = ['-subj', '/CN=Atelier tests', '-addext', `subjectAltName=${names.join()}`];
  const options = ['req', '-x509', '-days', '1', ...key, ...subject, '-out', certificateFile];
  execFileSync('openssl', options, { stdio: 'ignore' });
}
