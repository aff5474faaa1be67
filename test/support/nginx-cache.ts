import { startNginx } from './nginx.ts';

/** A cache in front of an origin. */
export type NginxCache = Awaited<ReturnType<typeof startNginxCache>>;

/**
 * Starts nginx with its slice module in front of an origin, as CloudFront caches streams: it requests and keeps ranges, and serves any
 * range of them. It keeps what the origin allows by Cache-Control and nothing else; the key is path,
 * query and Origin. Responses say by `x-cache` whether they were kept (`HIT`) or came from the origin (`MISS`).
 */
export async function startNginxCache(origin: string) {
  const { host, close } = await startNginx(async (folder) => ({
    http: `proxy_cache_path ${folder}/cache keys_zone=streams:1m;`,
    server: `
      location / {
        slice 256k;
        proxy_cache streams;
        proxy_cache_key $uri$is_args$args$http_origin$slice_range;
        proxy_set_header Range $slice_range;
        proxy_http_version 1.1;
        add_header x-cache $upstream_cache_status always;
        proxy_pass ${origin};
      }`,
  }));
  return { url: `http://${host}`, close };
}
