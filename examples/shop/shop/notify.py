"""Telling customers and partners what happens to their orders."""

import asyncio
import email.contentmanager
import email.headerregistry
import email.message
import html
import http.client
import logging.config
import smtplib
import ssl
import urllib.request
import xml.etree.ElementTree as xml

TRANSPORTS = {"mail": smtplib.SMTP, "web": http.client.HTTPSConnection}


def mail(to, subject, text):
    message = email.message.EmailMessage()
    message["To"], message["Subject"] = to, subject
    message.set_content(html.unescape(text))
    return message


def order_xml(lines):
    root = xml.Element("order")
    for name, count in sorted(lines.items()):
        xml.SubElement(root, "line", name=name, count=str(count))
    return xml.tostring(root, encoding="unicode")


def request(url, lines):
    return urllib.request.Request(url, data=order_xml(lines).encode(), method="POST")


def secure():
    return ssl.create_default_context()


def configure_logging(level="INFO"):
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": False, "root": {"level": level}})


async def deliver(messages, send):
    return await asyncio.gather(*(send(message) for message in messages))
