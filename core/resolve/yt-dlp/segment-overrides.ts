import { withoutAbsent } from '@reelay/seekable-media/values';
import type { SegmentOverrides } from '@reelay/source/track';
import { type Info, isInfo, text, webUrl } from '../../parsing/index.ts';

/** Hexadecimal digits of an AES-128 key, and of an initialization vector. */
const DIGITS = 32;

/**
 * What an extractor says of the segments and keys of a format, in place of its playlist.
 * @returns undefined when the key or the initialization vector is not one of AES-128: the media cannot be decrypted
 */
export function readSegmentOverrides(format: Info): SegmentOverrides | undefined {
  const aes = isInfo(format.hls_aes) ? format.hls_aes : {};
  const key = hexadecimal(aes.key, DIGITS);
  // Leading zeros of a number may be missing.
  const iv = hexadecimal(aes.iv, 1);
  if (key === '' || iv === '') return undefined;
  return withoutAbsent<SegmentOverrides>({
    segmentQuery: text(format.extra_param_to_segment_url),
    keyQuery: text(format.extra_param_to_key_url),
    keyUrl: webUrl(aes.uri),
    key,
    iv,
  });
}

/** The digits without `0x`, with leading zeros; empty for a text that has not as many. */
function hexadecimal(value: unknown, minDigits: number): string | undefined {
  const written = text(value);
  if (written === undefined) return undefined;
  const digits = /^(?:0x)?([\da-f]+)$/i.exec(written)?.[1] ?? '';
  return digits.length >= minDigits && digits.length <= DIGITS ? digits.padStart(DIGITS, '0') : '';
}
