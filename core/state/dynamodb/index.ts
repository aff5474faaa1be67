export { createDynamoDbStorage, createTableClient } from './dynamodb-storage.ts';
