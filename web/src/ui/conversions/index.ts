export { loadOffers, useOffers } from './use-offers.ts';
export { apiQualityOf, useSignedUrls } from './use-signed-urls.ts';
