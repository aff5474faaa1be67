/** PCM of a file. */
interface PcmFormat {
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** `RIFF` sizes have 32 bits, and all bits set has a meaning of its own in RF64. */
const MAX_RIFF_BYTES = 0xffff_ffff;
/** Bytes of `RIFF` content before the samples: `WAVE`, `fmt ` with 16 bytes, and the header of `data`. */
const RIFF_CONTENT_BYTES = 4 + 8 + 16 + 8;
/** `ds64` (EBU Tech 3306 §3): sizes of 64 bits, and no table. */
const DS64_BYTES = 28;
/** `WAVE_FORMAT_PCM`. */
const PCM = 1;

/** The bytes before the samples of a WAV file (RIFF), or of RF64 (EBU Tech 3306) where 32 bits are too few. */
export function wavHeader(dataBytes: number, { sampleRate, channels, bitsPerSample }: PcmFormat): Buffer {
  const blockBytes = (channels * bitsPerSample) / 8;
  const isLarge = RIFF_CONTENT_BYTES + dataBytes >= MAX_RIFF_BYTES;
  const format = Buffer.alloc(24);
  format.write('fmt ', 'latin1');
  format.writeUInt32LE(16, 4);
  format.writeUInt16LE(PCM, 8);
  format.writeUInt16LE(channels, 10);
  format.writeUInt32LE(sampleRate, 12);
  format.writeUInt32LE(sampleRate * blockBytes, 16);
  format.writeUInt16LE(blockBytes, 20);
  format.writeUInt16LE(bitsPerSample, 22);
  if (!isLarge)
    return Buffer.concat([
      ...[chunkHeader('RIFF', RIFF_CONTENT_BYTES + dataBytes), Buffer.from('WAVE')],
      ...[format, chunkHeader('data', dataBytes)],
    ]);
  const sizes = Buffer.alloc(DS64_BYTES);
  sizes.writeBigUInt64LE(BigInt(RIFF_CONTENT_BYTES + 8 + DS64_BYTES + dataBytes), 0);
  sizes.writeBigUInt64LE(BigInt(dataBytes), 8);
  sizes.writeBigUInt64LE(BigInt(dataBytes / blockBytes), 16);
  return Buffer.concat([
    ...[chunkHeader('RF64', MAX_RIFF_BYTES), Buffer.from('WAVE'), chunkHeader('ds64', DS64_BYTES), sizes],
    ...[format, chunkHeader('data', MAX_RIFF_BYTES)],
  ]);
}

function chunkHeader(id: string, bytes: number): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 'latin1');
  header.writeUInt32LE(bytes, 4);
  return header;
}
