import { describe, expect, it } from 'vitest';
import { createGuard, ForbiddenUrl, type HostAddress, isPublic } from './hostguard.ts';

const names: Record<string, readonly string[]> = {
  'public.test': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'private.test': ['10.0.0.5'],
  'mixed.test': ['93.184.215.14', '127.0.0.1'],
  'mixed6.test': ['93.184.215.14', '::1'],
  'metadata.test': ['169.254.169.254'],
  localhost: ['127.0.0.1', '::1'],
};
const resolve = async (hostname: string): Promise<readonly HostAddress[]> => {
  const addresses = names[hostname];
  if (addresses === undefined) throw new Error('ENOTFOUND');
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};
const guard = (url: string, ...allowedHosts: string[]) => createGuard({ allowedHosts, resolve })(new URL(url));

describe('addresses that are not public', () => {
  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '10.255.255.255'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.0.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT, metadata', '100.100.100.200'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local, metadata', '169.254.169.254'],
    ['metadata on a public address', '168.63.129.16'],
    ['protocol assignments', '192.0.0.1'],
    ['metadata', '192.0.0.192'],
    ['documentation', '192.0.2.1'],
    ['6to4 relays', '192.88.99.1'],
    ['benchmarks', '198.18.0.1'],
    ['benchmarks', '198.19.255.255'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['unique local', 'fc00::1'],
    ['unique local, metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard', '100::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['segment routing', '5f00::1'],
    ['outside of what is assigned', '4000::1'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped private', '::ffff:10.0.0.1'],
    ['IPv4-mapped metadata', '::ffff:a9fe:a9fe'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['6to4 of anything', '2002:5db8:d70e::1'],
    ['Teredo', '2001:0:7f00:1::1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of private', '64:ff9b::10.0.0.1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['local NAT64', '64:ff9b:1::5db8:d70e'],
    ['ISATAP of private', '2001:470::5efe:10.0.0.1'],
    ['ISATAP of private, universal', '2001:470::200:5efe:10.0.0.1'],
    ['ORCHID', '2001:20::1'],
    ['benchmarks', '2001:2::1'],
  ])('%s: %s', (_kind, address) => {
    expect(isPublic(address)).toBe(false);
  });

  it.each([
    '1.1.1.1',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '::ffff:93.184.215.14',
    '64:ff9b::5db8:d70e',
  ])('but %s is', (address) => {
    expect(isPublic(address)).toBe(true);
  });
});

describe('the guard refuses', () => {
  it.each([
    ['another scheme', 'ftp://public.test/a.png'],
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme', 'data:image/png;base64,AAAA'],
    ['another scheme', 'gopher://public.test/'],
    ['a user name', 'http://user@public.test/a.png'],
    ['credentials', 'http://user:pass@public.test/a.png'],
    ['a host that only looks public', 'http://public.test@127.0.0.1/'],
    ['loopback by name', 'http://localhost/a.png'],
    ['loopback by a name that the resolver does not know', 'http://files.localhost./a.png'],
    ['a name that leads to a private address', 'https://private.test/a.png'],
    ['a name that leads to a private address too', 'https://mixed.test/a.png'],
    ['a name that leads to IPv6 loopback too', 'https://mixed6.test/a.png'],
    ['a name that leads to metadata', 'http://metadata.test/latest/meta-data'],
    ['loopback', 'http://127.0.0.1/'],
    ['loopback with a port', 'http://127.0.0.1:8080/'],
    ['short', 'http://127.1/'],
    ['zero', 'http://0/'],
    ['decimal', 'http://2130706433/'],
    ['octal', 'http://0177.0.0.1/'],
    ['hex', 'http://0x7f.0.0.1/'],
    ['hex whole', 'http://0x7f000001/'],
    ['percent-encoded', 'http://%31%32%37.0.0.1/'],
    ['full-width digits', 'http://１２７.０.０.１/'],
    ['circled digits', 'http://①②⑦.⓪.⓪.①/'],
    ['a trailing dot', 'http://127.0.0.1./'],
    ['IPv6 loopback', 'http://[::1]/'],
    ['IPv6 loopback at length', 'http://[0:0:0:0:0:0:0:1]:80/'],
    ['IPv4-mapped', 'http://[::ffff:127.0.0.1]/'],
    ['IPv4-mapped in hex', 'http://[::ffff:7f00:1]/'],
    ['NAT64', 'http://[64:ff9b::7f00:1]/'],
    ['6to4', 'http://[2002:7f00:1::]/'],
    ['link-local metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['unique local', 'http://[fd00:ec2::254]/'],
    ['unspecified', 'http://0.0.0.0/'],
    ['unspecified IPv6', 'http://[::]/'],
  ])('%s: %s', async (_what, url) => {
    await expect(guard(url)).rejects.toBeInstanceOf(ForbiddenUrl);
  });
});

describe('the guard allows', () => {
  it('public names, with all their addresses', async () => {
    expect(await guard('https://public.test/a.png')).toEqual(await resolve('public.test'));
  });
  it('public addresses', async () => {
    expect(await guard('http://93.184.215.14:8080/a.png')).toEqual([{ address: '93.184.215.14', family: 4 }]);
    expect(await guard('http://[2606:4700:4700::1111]/')).toEqual([{ address: '2606:4700:4700::1111', family: 6 }]);
  });
  it('names that cannot be resolved are not forbidden, but fail', async () => {
    await expect(guard('http://unknown.test/')).rejects.not.toBeInstanceOf(ForbiddenUrl);
  });
});

describe('allowed hosts', () => {
  it.each([
    ['a host, on any port', 'http://localhost:9999/', 'localhost'],
    ['whatever its case', 'http://LOCALHOST/', 'LocalHost'],
    ['a host with its port', 'http://127.0.0.1:8080/', '127.0.0.1:8080'],
    ['in another form', 'http://2130706433:8080/', '127.0.0.1:8080'],
    ['the default port of http', 'http://private.test/', 'private.test:80'],
    ['the default port of https', 'https://private.test/', 'private.test:443'],
    ['IPv6', 'http://[::1]:8080/', '[::1]:8080'],
    ['IPv6 on any port', 'http://[::1]:8080/', '[::1]'],
  ])('%s', async (_what, url, allowed) => {
    expect(await guard(url, 'other.test', allowed)).not.toEqual([]);
  });

  it.each([
    ['another port', 'http://127.0.0.1:8081/', '127.0.0.1:8080'],
    ['another host', 'http://localhost/', '127.0.0.1'],
    ['part of a name', 'http://private.test/', 'test'],
    ['http is not https', 'http://private.test/', 'private.test:443'],
    ['the scheme still counts', 'ftp://localhost/', 'localhost'],
    ['credentials still count', 'http://user@localhost/', 'localhost'],
  ])('but not: %s', async (_what, url, allowed) => {
    await expect(guard(url, allowed)).rejects.toBeInstanceOf(ForbiddenUrl);
  });
});
