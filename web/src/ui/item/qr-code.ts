import { encode } from 'uqr';

/** Modules of quiet zone, ISO/IEC 18004 §6.3.8. */
const BORDER = 4;

export interface QrCode {
  /** Modules on each side, quiet zone included. */
  readonly size: number;
  /** SVG path of the dark modules, one unit each. */
  readonly path: string;
}

/** A text as a QR code; undefined when it exceeds the largest version (2,953 bytes). */
export function qrCodeOf(text: string): QrCode | undefined {
  if (new TextEncoder().encode(text).length > 2953) return undefined;
  const { size, data } = encode(text, { ecc: 'L', border: BORDER });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : []))).join('');
  return { size, path };
}
