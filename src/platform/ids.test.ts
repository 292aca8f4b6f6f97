import { expect, test } from 'vitest';
import { uuidOfName } from './ids.ts';

// RFC 9562, appendix A.4: the namespace for DNS names.
const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

test('a name has the UUID of version 5 that RFC 9562 gives for it', () => {
  expect(uuidOfName(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
});

test('the namespace can be written without hyphens', () => {
  expect(uuidOfName(dns.replaceAll('-', ''), 'www.example.com')).toBe(uuidOfName(dns, 'www.example.com'));
});
