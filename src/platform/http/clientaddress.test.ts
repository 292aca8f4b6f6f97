import { describe, expect, it } from 'vitest';
import { clientAddressReader, parseNetwork } from './clientaddress.ts';

describe('the address of the client', () => {
  const proxies = ['10.0.0.0/8', '192.168.1.7/32', 'fd00::/8'];
  it.each<[string, string, string | undefined, string | undefined]>([
    ['the peer, if it is not a proxy', '203.0.113.9', undefined, '203.0.113.9'],
    ['the peer, whatever the header claims', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the address that a proxy reports', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['the last address that is not a proxy', '10.1.2.3', '1.1.1.1, 203.0.113.9, 192.168.1.7', '203.0.113.9'],
    ['the first address, if all are proxies', '10.1.2.3', '10.9.9.9,10.8.8.8', '10.9.9.9'],
    ['the proxy, if it reports none', '10.1.2.3', undefined, '10.1.2.3'],
    ['the proxy, if it reports an invalid address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
    ['a proxy, if it reports a port too', '10.1.2.3', '203.0.113.9:443', '10.1.2.3'],
    ['not a number that some parsers accept as an address', '10.1.2.3', '1', '10.1.2.3'],
    ['not a line break', '10.1.2.3', '203.0.113.9\r\nx: y', '10.1.2.3'],
    ['an IPv6 address', 'fd00::1', '2001:DB8::0001', '2001:db8::1'],
    ['an IPv4-mapped IPv6 address', '::ffff:10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['undefined for a socket without addresses', '', '203.0.113.9', undefined],
  ])('is %s', (_name, ip, forwarded, expected) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    expect(clientAddressReader(proxies)({ ip, headers })).toBe(expected);
  });

  it('is unknown if no proxy is configured', () => {
    expect(clientAddressReader([])({ ip: '10.1.2.3', headers: { 'x-forwarded-for': '203.0.113.9' } })).toBeUndefined();
  });
});

describe('a network', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.1', '10.0.0.1/32'],
    ['fd00::/8', 'fd00::/8'],
    ['::1', '::1/128'],
  ])('%s is %s', (raw, network) => expect(parseNetwork(raw)).toBe(network));

  it.each(['', 'proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0/8', '*', '::/129'])(
    '%j is not a network',
    (raw) => {
      expect(() => parseNetwork(raw)).toThrow('must be CIDRs');
    },
  );
});
