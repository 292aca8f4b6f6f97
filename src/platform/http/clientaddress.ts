/** The address of the client behind the proxies that an operator trusts. */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  /** The address of the connection's other end. */
  readonly ip: string;
}

/** Returns a CIDR in its canonical form. A bare address is a network of one. Throws an Error for invalid settings. */
export function parseNetwork(raw: string): string {
  const [address = '', bits] = raw.split('/');
  const network = bits === undefined ? `${raw}/${isIP(address) === 4 ? 32 : 128}` : raw;
  if (isIP(address) === 0 || !ipaddr.isValidCIDR(network))
    throw new Error(`must be CIDRs such as 10.0.0.0/8, not ${raw}`);
  return network;
}

/**
 * Reads `X-Forwarded-For` from its end as long as each hop is a trusted proxy. Everything before the first untrusted hop is only
 * a claim of the client. `networks`: CIDRs. Without any, a proxy cannot be distinguished from a client, so the result is `undefined`.
 */
export function clientAddressReader(networks: readonly string[]): (request: Received) => string | undefined {
  const trusted = networks.map((network) => ipaddr.parseCIDR(network));
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    trusted.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
  return ({ headers, ip }) => {
    if (trusted.length === 0 || isIP(ip) === 0) return undefined;
    let address = ipaddr.process(ip);
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    for (let hop = hops.pop(); hop !== undefined && isTrusted(address); hop = hops.pop()) {
      const text = hop.trim();
      if (isIP(text) === 0) break;
      address = ipaddr.process(text);
    }
    return address.toString();
  };
}
