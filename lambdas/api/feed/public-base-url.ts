import { type Event, headerOf } from '../../middleware/index.ts';

export interface PublicBaseUrlOptions {
  /** Setting of the operator: an origin. */
  readonly publicUrl?: string;
  /** Proxies in front of an instance on one machine whose X-Forwarded headers are trusted. @default 0 */
  readonly trustedProxies?: number;
  /** Requests arrive through the edge alone, by HTTPS; it sets X-Forwarded-Host. */
  readonly isBehindEdge: boolean;
}

/** A host name or address with an optional port, as in Host (RFC 9110 §7.2). */
const AUTHORITY = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The base URL by which clients reach the instance, without a slash at the end, for documents that are read elsewhere.
 * Undefined when it is not known.
 */
export function publicBaseUrl(
  event: Event,
  { publicUrl, trustedProxies = 0, isBehindEdge }: PublicBaseUrlOptions,
): string | undefined {
  if (publicUrl) return publicUrl;
  const forwarded = (name: string) =>
    isBehindEdge || trustedProxies > 0 ? headerOf(event, name)?.split(',', 1)[0]?.trim() || undefined : undefined;
  const host = forwarded('x-forwarded-host') ?? (isBehindEdge ? '' : (headerOf(event, 'host') ?? ''));
  const isSecure = isBehindEdge || forwarded('x-forwarded-proto')?.toLowerCase() === 'https';
  const protocol = isSecure ? 'https' : 'http';
  return AUTHORITY.test(host) ? `${protocol}://${host}` : undefined;
}
