export { loadOffers, useOffers } from './use-offers.ts';
