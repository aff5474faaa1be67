export { CLOCK_HZ, isPesStart, PACKET_BYTES, payloadStart, pidOf, readPesTimestamp, SYNC_BYTE } from './packets.ts';
