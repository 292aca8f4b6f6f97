/**
 * Decides which hosts a request may go to when its URL comes from outside (docs/specification/image.md#sources). The
 * services run inside a private network, so every address that a host resolves to must be public, however it is written.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent } from 'undici';

/** No request may go to the URL. */
export class ForbiddenUrl extends Error {
  override readonly name = 'ForbiddenUrl';
}

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

export interface GuardOptions {
  /** `host` or `host:port`; these may resolve to private addresses. */
  readonly allowedHosts: readonly string[];
  /** Returns all addresses of a name. The system's resolver by default. */
  readonly resolve?: (hostname: string) => Promise<readonly HostAddress[]>;
}

/** Returns the only addresses that the connection may be made to. Throws ForbiddenUrl. */
export type Guard = (url: URL) => Promise<readonly HostAddress[]>;

const resolveAll = (hostname: string) => lookup(hostname, { all: true });

export function createGuard({ allowedHosts, resolve = resolveAll }: GuardOptions): Guard {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isAllowed = (url: URL) => allowed.has(url.hostname) || allowed.has(hostAndPortOf(url));
  return async (url) => {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new ForbiddenUrl(`${url.protocol} is not fetched`);
    if (url.username !== '' || url.password !== '') throw new ForbiddenUrl('credentials in a URL are not sent');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const family = isIP(host);
    // Some resolvers do not know every name that means this machine (RFC 6761), and would make it an unknown host.
    if (/(^|\.)localhost\.?$/.test(host) && !isAllowed(url)) throw new ForbiddenUrl(`${host} is this machine`);
    const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
    const refused = isAllowed(url) ? undefined : addresses.find(({ address }) => !isPublic(address));
    if (refused !== undefined) throw new ForbiddenUrl(`${url.hostname} resolves to ${refused.address}`);
    return addresses;
  };
}

/** A dispatcher that connects to `addresses` only: the name is not resolved a second time. Destroy it after use. */
export function connectOnlyTo(addresses: readonly HostAddress[]): Agent {
  const pinned: LookupFunction = (hostname, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error(`${hostname} has no address`), '');
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
  return new Agent({ connect: { lookup: pinned }, pipelining: 0 });
}

/** `host:port`, also of a URL without a port. */
export function hostAndPortOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Unicast, routed on the internet, and not hiding another address in itself. */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return isPublicV4(parsed);
  switch (parsed.range()) {
    case 'ipv4Mapped':
      return isPublicV4(parsed.toIPv4Address());
    case 'rfc6052':
      // NAT64's well-known prefix is how hosts of the IPv4 internet look in an IPv6 network. Its local-use one is not.
      return parsed.match(nat64, 96) && isPublicV4(new ipaddr.IPv4(parsed.toByteArray().slice(12)));
    case 'unicast':
      return parsed.match(globalUnicast, 3) && !isIsatap(parsed);
    default:
      return false;
  }
}

const nat64 = ipaddr.IPv6.parse('64:ff9b::');
const globalUnicast = ipaddr.IPv6.parse('2000::');
/** Azure's host agent, which answers on a public address inside every virtual machine. */
const azureHost = '168.63.129.16';

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== azureHost;
}

/** An interface identifier `[02]00:5efe:<IPv4>` is a tunnel to that IPv4 address. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high = 0, low] = address.parts;
  return (high & 0xfdff) === 0 && low === 0x5efe;
}
