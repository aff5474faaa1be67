/** What this service uses of the library, which ships no types. */
declare module 'm3u8-parser' {
  export interface ParsedByteRange {
    readonly length: number;
    readonly offset?: number;
  }

  export interface ParsedKey {
    readonly method: string;
    readonly uri: string;
    /** Four words, the most significant first. */
    readonly iv?: Uint32Array;
  }

  export interface ParsedSegment {
    readonly uri?: string;
    readonly duration?: number;
    readonly byterange?: ParsedByteRange;
    readonly key?: ParsedKey;
    readonly discontinuity?: boolean;
    readonly custom?: Readonly<Record<string, unknown>>;
    readonly map?: { readonly uri?: string; readonly byterange?: ParsedByteRange; readonly key?: ParsedKey };
  }

  export interface ParsedVariant {
    readonly uri?: string;
    readonly attributes?: { readonly BANDWIDTH?: number };
  }

  export interface ParsedManifest {
    readonly segments: readonly ParsedSegment[];
    readonly playlists?: readonly ParsedVariant[];
    readonly contentProtection?: Readonly<Record<string, unknown>>;
    readonly endList?: boolean;
    readonly mediaSequence?: number;
    readonly targetDuration?: number;
  }

  export class Parser {
    constructor(options?: { readonly url?: string });
    readonly manifest: ParsedManifest;
    /** A tag that the library does not know: its lines become `custom` of the segment. */
    addParser(options: { readonly expression: RegExp; readonly customType: string; readonly segment: boolean }): void;
    push(text: string): void;
    end(): void;
  }
}
