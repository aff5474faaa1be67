import { describe, expect, it } from 'vitest';
import { element, escapeXml, textElement } from '../../../core/http/xml.ts';

describe('XML', () => {
  it.each([
    [`a&b<c>d"e'f`, 'a&amp;b&lt;c&gt;d&quot;e&apos;f'],
    ['a\tb\nc\rd é 🎵', 'a\tb\nc\rd é 🎵'],
    ['a\0b\u001fc\ud800d\ufffee\uffff', 'abcde'],
  ])('escapes %j as %j', (text, expected) => expect(escapeXml(text)).toBe(expected));

  it.each([
    [element('a', undefined), ''],
    [element('a', ''), '<a/>'],
    [element('a', '<b/>'), '<a><b/></a>'],
    [element('a', '', { x: '"', y: undefined, z: '' }), '<a x="&quot;" z=""/>'],
    [element('a', 'b', { x: '1' }), '<a x="1">b</a>'],
    [textElement('a', '<'), '<a>&lt;</a>'],
    [textElement('a', ''), ''],
    [textElement('a', null), ''],
  ])('writes %j', (written, expected) => expect(written).toBe(expected));
});
