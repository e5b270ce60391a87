"""An authority that signs certificates for TLS on this machine."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


class Authority:
    def __init__(self, name: str) -> None:
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.pem = self._signed(self._name, self._key.public_key(), ca=True)

    def server(self, host: str) -> tuple[bytes, bytes]:
        """Certificate and key for that host."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(host)])
        pem = self._signed(_named(host), key.public_key(), alternatives)
        return pem, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        *extensions: x509.ExtensionType,
        ca: bool = False,
    ) -> bytes:
        hour, now = timedelta(hours=1), datetime.now(UTC)
        made = x509.CertificateBuilder(self._name, subject, key, x509.random_serial_number())
        made = made.not_valid_before(now - hour).not_valid_after(now + hour)
        made = made.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        for extension in extensions:
            made = made.add_extension(extension, critical=False)
        return made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
