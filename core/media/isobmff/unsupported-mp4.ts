/** A file that the muxer in this process does not plainly understand: FFmpeg may. */
export class UnsupportedMp4 extends Error {
  override readonly name = 'Unsupported';
}
