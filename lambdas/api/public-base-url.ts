import type { Settings } from '../../core/config/index.ts';
import { trustedEntry } from '../../core/http/index.ts';
import { type Event, type HandlerOptions, headerOf } from '../http-handler.ts';

/** With a check of the edge, requests arrive through the edge alone, by HTTPS; it sets X-Forwarded-Host. */
export interface PublicBaseUrlOptions
  extends Partial<Pick<Settings, 'publicUrl' | 'trustedProxies' | 'allowedHosts'>>,
    Pick<HandlerOptions, 'isFromEdge'> {}

/** A host name or address with an optional port, as in Host (RFC 9110 §7.2). */
const AUTHORITY = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The base URL by which clients reach the instance, without a slash at the end, for documents that are read elsewhere.
 * Undefined when it is not known.
 */
export function publicBaseUrl(event: Event, options: PublicBaseUrlOptions): string | undefined {
  const { publicUrl, trustedProxies = 0, isFromEdge } = options;
  if (publicUrl) return publicUrl;
  const isBehindEdge = isFromEdge !== undefined;
  const forwarded = (name: string) => trustedEntry(headerOf(event, name), isBehindEdge ? 1 : trustedProxies);
  const forwardedHost = forwarded('x-forwarded-host');
  const host = isBehindEdge ? forwardedHost : selectHost(headerOf(event, 'host'), forwardedHost, options);
  const isSecure = isBehindEdge || forwarded('x-forwarded-proto')?.toLowerCase() === 'https';
  const protocol = isSecure ? 'https' : 'http';
  return host !== undefined && AUTHORITY.test(host)
    ? `${protocol}://${host}${event.requestContext.basePath ?? ''}`
    : undefined;
}

/** A proxy may pass on what a client sent: only a known name replaces Host, and never the port. */
function selectHost(
  host: string | undefined,
  forwardedHost: string | undefined,
  { allowedHosts = [] }: PublicBaseUrlOptions,
): string | undefined {
  const name = nameOf(forwardedHost);
  const isKnown = allowedHosts.some((allowed) => allowed.toLowerCase() === name);
  return isKnown && name !== nameOf(host) ? name : host;
}

const nameOf = (authority = ''): string | undefined => AUTHORITY.exec(authority)?.[1]?.toLowerCase();
