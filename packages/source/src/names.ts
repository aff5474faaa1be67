import { digestOf } from '@reelay/seekable-media/values';
import type { SourceTrack } from './track.ts';

declare const isName: unique symbol;

/**
 * Names what is cached, shared in flight, validated or stored. Only `nameOf` returns one, so that none is made of sizes and times, which
 * two sources may have in common.
 */
export type Name = string & { readonly [isName]: true };

/** A version of a track: what its bytes follow from. */
export interface SourceVersion {
  /** The request that selects its bytes. A track with an `id` is identified by it alone, because its URL changes when it is renewed. */
  readonly track: Pick<SourceTrack, 'id' | 'url'> &
    Partial<Pick<SourceTrack, 'headers' | 'cookies' | 'egress' | 'overrides' | 'fragments' | 'fragmentBaseUrl'>>;
  /**
   * Another one where any part of it is: the validator of a file, those of the segments of a list. Absent: the name is of the track, and
   * what has it is compared with its source before it is used.
   */
  readonly version?: string | undefined;
}

/**
 * The name of something that is made of tracks.
 * @param sources its tracks, each in a version; or what it is made of by its own name
 * @param format how it is made of them: another one where the same sources make other bytes
 * @param part which part of it: any value that has a JSON
 * @returns 22 characters of base64url, the same in every process
 */
export const nameOf = (sources: readonly (SourceVersion | Name)[], format: string, part: unknown = null): Name =>
  digestOf([format, part, sources.map((source) => (typeof source === 'string' ? source : identityOf(source)))]) as Name;

function identityOf({ track, version }: SourceVersion): unknown {
  const { id, url, headers, cookies, egress, overrides, fragments, fragmentBaseUrl } = track;
  const selected = id === undefined ? [url, headers, cookies, egress, overrides, fragments, fragmentBaseUrl] : [id];
  return [...selected, { version }];
}
