import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../../api/index.ts';
import { type ConversionOffers, NO_OFFERS, readOffers } from '../../renditions/index.ts';
import { usePage } from '../context.ts';

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
  const [offers, setOffers] = useState(() => known.get(api.base));
  useEffect(() => {
    let isCurrent = true;
    if (!offers) void loadOffers(api).then((loaded) => isCurrent && setOffers(loaded));
    return () => {
      isCurrent = false;
    };
  }, [api]);
  return offers;
}
