/** Whether the browsers of all front ends store the session cookie and send it. */
import type { Environment } from '#platform/config.ts';

/** Returns one sentence for each URL whose host COOKIE_DOMAIN does not cover. Values that are not URLs have faults of their own. */
export function findUncovered({
  COOKIE_DOMAIN: domain = '',
  PUBLIC_BASE_URL: publicUrl,
  ALLOWED_REDIRECT_ORIGINS: origins = '',
}: Environment): readonly string[] {
  if (domain === '') return [];
  // Without the setting, the service is at its local URL.
  const urls = [
    ['PUBLIC_BASE_URL', publicUrl || 'http://localhost'] as const,
    ...origins.split(',').map((origin) => ['ALLOWED_REDIRECT_ORIGINS', origin.trim()] as const),
  ];
  return urls.flatMap(([variable, url]) => {
    if (!URL.canParse(url) || covers(domain, new URL(url).hostname)) return [];
    return `COOKIE_DOMAIN is ${domain}, which does not cover ${new URL(url).host} in ${variable}: browsers do not send the session cookie there`;
  });
}

/** As browsers match a cookie's domain (RFC 6265 §5.1.3). */
function covers(domain: string, host: string): boolean {
  const parent = domain.replace(/^\./, '').toLowerCase();
  return host === parent || host.endsWith(`.${parent}`);
}
