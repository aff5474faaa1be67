import { DescribeNetworkInterfacesCommand, type EC2Client } from '@aws-sdk/client-ec2';

/** Public DNS names by network interface. One that is gone, or has none, is left out. */
export type PublicNames = (networkInterfaces: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export const createPublicNames =
  (ec2: EC2Client): PublicNames =>
  async (networkInterfaces) => {
    if (networkInterfaces.length === 0) return new Map();
    // By filter: an id that is gone by now must not fail the others.
    const Filters = [{ Name: 'network-interface-id', Values: [...networkInterfaces] }];
    const { NetworkInterfaces = [] } = await ec2.send(new DescribeNetworkInterfacesCommand({ Filters }));
    return new Map(
      NetworkInterfaces.flatMap(({ NetworkInterfaceId: id, Association }) =>
        id && Association?.PublicDnsName ? [[id, Association.PublicDnsName] as const] : [],
      ),
    );
  };
