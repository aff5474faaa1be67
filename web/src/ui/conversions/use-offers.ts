import type { Api } from '../../api/index.ts';
import { type ConversionOffers, NO_OFFERS, readOffers } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { useLoaded } from '../controls/index.ts';

const PATH = '/swagger/v1/swagger.json';
/** Without an answer the page offers what items list. */
const TIMEOUT_MS = 5_000;

/** By instance. */
const known = new Map<string, ConversionOffers>();
const loading = new Map<string, Promise<ConversionOffers>>();

/** What an instance converts to, by its description; nothing more than it lists when there is no description. Never rejects. */
export function loadOffers(api: Api): Promise<ConversionOffers> {
  const { base } = api;
  const current = loading.get(base);
  if (current) return current;
  const request = api.getJson(PATH, AbortSignal.timeout(TIMEOUT_MS)).then(
    (description) => {
      const offers = readOffers(description);
      known.set(base, offers);
      return offers;
    },
    () => {
      // Another item asks again.
      loading.delete(base);
      return NO_OFFERS;
    },
  );
  loading.set(base, request);
  return request;
}

/** What the instance converts to; undefined until it is known. */
export function useOffers(): ConversionOffers | undefined {
  const { api } = usePage();
  const loaded = useLoaded(() => (known.has(api.base) ? undefined : loadOffers(api)), [api]);
  return known.get(api.base) ?? loaded;
}
