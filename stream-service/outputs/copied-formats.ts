import type { ConversionName } from '../../core/conversions/index.ts';

/** A conversion that copies the packets of the audio into a file of their own. */
export interface CopiedFormat {
  /** The family of the codec, and its name for users. */
  readonly codec: 'aac' | 'opus';
  readonly codecName: string;
  readonly container: 'm4a' | 'ogg';
  readonly containerName: string;
  /** Extensions of files that are sent as they are. */
  readonly extensions: RegExp;
}

export const copiedFormats = {
  m4a: { codec: 'aac', codecName: 'AAC', container: 'm4a', containerName: 'M4A', extensions: /^m4a$/i },
  opus: { codec: 'opus', codecName: 'Opus', container: 'ogg', containerName: 'Ogg', extensions: /^(ogg|oga|opus)$/i },
} satisfies { readonly [Name in ConversionName]?: CopiedFormat };

export type CopiedName = keyof typeof copiedFormats;

/** Why a source with another codec is refused. */
export const otherCodec = ({ codecName, containerName }: CopiedFormat): string =>
  `${containerName} needs ${codecName} audio, which this source does not have.`;
