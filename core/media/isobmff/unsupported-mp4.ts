/** A file that the muxer in this process does not plainly understand: FFmpeg may. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}
