export { CLOCK_HZ, PACKET_BYTES, payloadStart, pidOf, readPesStart, SYNC_BYTE } from './packets.ts';
