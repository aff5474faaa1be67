import jsQR from 'jsqr';
import { describe, expect, it } from 'vitest';
import { shareableLocation } from '../../../web/src/lib/incoming.ts';
import { preferenceFromQuality, qualityOf } from '../../../web/src/renditions/choice.ts';
import { createFormatStore } from '../../../web/src/ui/format-store.ts';
import { qrCodeOf } from '../../../web/src/ui/item/qr-code.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

describe('preferenceFromQuality', () => {
  it.each([
    ['1080p', { group: 'video', height: 1080 }],
    ['audio', { group: 'audio' }],
    ['mp3', { group: 'mp3' }],
  ])('reads %s as qualityOf writes it', (quality, preference) => {
    expect(preferenceFromQuality(quality)).toEqual(preference);
    expect(qualityOf(preference as Parameters<typeof qualityOf>[0])).toBe(quality);
  });

  it('reads best as the tallest video', () => {
    expect(preferenceFromQuality('best')?.height).toBeGreaterThan(1e6);
  });

  it.each([null, '', '1080', '0p', '-5p', '1e3p', '999999p', 'MP3', 'p'])('ignores %s', (quality) =>
    expect(preferenceFromQuality(quality)).toBeUndefined(),
  );
});

describe('shareableLocation', () => {
  it('holds the link and the format', () => {
    expect(shareableLocation('https://a.example/?x=1&quality=2', '720p')).toBe(
      '/?url=https%3A%2F%2Fa.example%2F%3Fx%3D1%26quality%3D2&quality=720p',
    );
  });
});

describe('createFormatStore', () => {
  it('uses the format of the open link without storing it', () => {
    const store = createMemoryStore();
    const formats = createFormatStore(store);
    formats.set({ group: 'video', height: 720 });
    formats.setForLink({ group: 'mp3' });
    expect(formats.get()).toEqual({ group: 'mp3' });
    expect(createFormatStore(store).get()).toEqual({ group: 'video', height: 720 });
    formats.setForLink(undefined);
    expect(formats.get()).toEqual({ group: 'video', height: 720 });
  });

  it('keeps what was selected of each group', () => {
    const store = createMemoryStore();
    createFormatStore(store).set({ group: 'video', height: 720, subtitles: 'de' });
    createFormatStore(store).set({ group: 'mp3', audioGroup: 'mp3', bitrateKbps: 320, hasTags: false });
    createFormatStore(store).set({ group: 'audio', audioGroup: 'audio', container: 'WAV', language: 'fr' });
    expect(createFormatStore(store).get()).toEqual({
      group: 'audio',
      audioGroup: 'audio',
      height: 720,
      bitrateKbps: 320,
      container: 'WAV',
      language: 'fr',
      subtitles: 'de',
      hasTags: false,
    });
    createFormatStore(store).set({ group: 'mp3', bitrateKbps: undefined, language: undefined });
    expect(createFormatStore(store).get()).toMatchObject({ bitrateKbps: undefined, language: undefined });
  });

  it.each(['{', '7', '{"group":"radio"}', 'null', '[]'])('ignores %s of another version', (text) =>
    expect(createFormatStore(createMemoryStore({ 'reelay.format': text })).get()).toBeUndefined(),
  );

  it('ignores fields of another shape', () => {
    const text = '{"group":"video","height":"x","language":7,"audioGroup":"video","subtitles":null}';
    expect(createFormatStore(createMemoryStore({ 'reelay.format': text })).get()).toEqual({ group: 'video' });
  });

  it('prefers what the visitor selects after opening the link', () => {
    const formats = createFormatStore(createMemoryStore());
    formats.setForLink({ group: 'mp3' });
    formats.set({ group: 'audio' });
    expect(formats.get()).toEqual({ group: 'audio' });
  });
});

/** Draws a code at four pixels per module, as a camera would see it. */
function pixelsOf({ size, path }: NonNullable<ReturnType<typeof qrCodeOf>>) {
  const width = size * 4;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < 4; row++) {
      const start = ((Number(y) * 4 + row) * width + Number(x) * 4) * 4;
      for (let column = 0; column < 4; column++) pixels.fill(0, start + column * 4, start + column * 4 + 3);
    }
  return { pixels, width };
}

describe('qrCodeOf', () => {
  it.each(['https://r.example/?url=https%3A%2F%2Fa.example%2Fwatch%3Fv%3D1&quality=1080p', 'https://ü.example/日本'])(
    'encodes %s',
    (text) => {
      const code = qrCodeOf(text);
      if (!code) return expect.fail('no code');
      const { pixels, width } = pixelsOf(code);
      expect(jsQR(pixels, width, width)?.data).toBe(text);
    },
  );

  it('rejects a text that exceeds the largest code', () => {
    expect(qrCodeOf('x'.repeat(2954))).toBeUndefined();
    expect(qrCodeOf('x'.repeat(2953))?.size).toBe(177 + 8);
  });
});
