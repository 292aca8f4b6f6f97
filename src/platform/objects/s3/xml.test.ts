import { describe, expect, test } from 'vitest';
import { escapeXml } from '../../escaping.ts';
import { readXml, textOf } from './xml.ts';

test('an answer of S3', () => {
  const answer = readXml(`<?xml version="1.0" encoding="UTF-8"?>
<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <!-- a note -->
  <Deleted><Key>a&amp;b &lt;&#x1F600;&#233;&gt;&quot;&apos;</Key></Deleted>
  <Error><Key>c</Key><Code>AccessDenied</Code><Message/></Error>
</DeleteResult>
`);
  expect(answer.name).toBe('DeleteResult');
  expect(answer.children.map((child) => [child.name, textOf(child, 'Key'), textOf(child, 'Message')])).toEqual([
    ['Deleted', 'a&b <😀é>"\'', undefined],
    ['Error', 'c', ''],
  ]);
});

test('escaped text is read back', () => {
  const text = `<a href="x">&amp;'`;
  expect(readXml(`<Key>${escapeXml(text)}</Key>`).text).toBe(text);
});

describe('refused', () => {
  test.each([
    ['nothing', ''],
    ['plain text', 'Bad Gateway'],
    ['two documents', '<a/><b/>'],
    ['text beside the document', '<a/>b'],
    ['an element left open', '<a><b></a>'],
    ['a stray end', '<a></a></b>'],
    ['a cut answer', '<ListBucketResult><Contents><Key>a</Ke'],
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['a bare ampersand', '<a>b & c</a>'],
    ['an entity without its end', '<a>&amp b</a>'],
    ['a character beyond Unicode', '<a>&#x110000;</a>'],
    ['HTML with bare attributes', '<html><p hidden>x</p></html>'],
  ])('%s', (_, source) => {
    expect(() => readXml(source)).toThrow(/XML/);
  });
});
